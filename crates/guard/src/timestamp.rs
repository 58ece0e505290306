//! Times as text.

/// Formats milliseconds since 1970 as RFC 3339.
pub fn timestamp(time: i64) -> String {
    jiff::Timestamp::from_millisecond(time).map(|time| time.to_string()).unwrap_or_default()
}
