//! Formats durations, numbers and times for people.

/// Formats a duration with its two largest units: `45s`, `2m`, `6m 40s`, `1h 5m`, `2d 3h`.
pub fn duration(seconds: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m"), (1, "s")];
    let largest = UNITS.iter().position(|(length, _)| seconds >= *length).unwrap_or(UNITS.len() - 1);
    let mut remaining = seconds;
    let mut shown = Vec::new();
    for (length, unit) in UNITS.iter().skip(largest).take(2) {
        let count = remaining / length;
        remaining %= length;
        if count > 0 || shown.is_empty() {
            shown.push(format!("{count}{unit}"));
        }
    }
    shown.join(" ")
}

/// Formats a number with separators: `6,200`.
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

/// Formats a time, in milliseconds since 1970, as the local time `HH:MM:SS`.
pub fn clock(time: i64, utc_offset: i32) -> String {
    let seconds = (time.div_euclid(1000) + i64::from(utc_offset)).rem_euclid(24 * 60 * 60);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats a number of times: `once`, `5 times`.
pub fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} times", count(number)) }
}
