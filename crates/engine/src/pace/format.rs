//! Formats durations, numbers and times for people.

/// `45s`, `2m`, `6m 40s`, `1h 5m`, `2d 3h`; the two largest units, and nothing below a second.
pub fn duration(seconds: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m"), (1, "s")];
    let largest = UNITS.iter().position(|(length, _)| seconds >= *length).unwrap_or(UNITS.len() - 1);
    let mut left = seconds;
    let mut shown = Vec::new();
    for (length, unit) in UNITS.iter().skip(largest).take(2) {
        let count = left / length;
        left %= length;
        if count > 0 || shown.is_empty() {
            shown.push(format!("{count}{unit}"));
        }
    }
    shown.join(" ")
}

/// `6,200`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Local time `HH:MM:SS` of milliseconds since 1970.
pub fn clock(time: i64, utc_offset: i32) -> String {
    let seconds = (time.div_euclid(1000) + i64::from(utc_offset)).rem_euclid(24 * 60 * 60);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `once`, `5 times`.
pub fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} times", count(number)) }
}
