//! One row of the results: the ratio of two times.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::timing::milliseconds;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub name: String,
    pub milliseconds: f64,
    /// The time of what the row is compared with.
    pub base_milliseconds: f64,
    pub ratio: f64,
    /// The ratio that should not be exceeded; `None` if the row is only for information.
    pub limit: Option<f64>,
}

impl Row {
    pub fn new(name: &str, time: Duration, base: Duration, limit: f64) -> Self {
        Self { limit: Some(limit), ..Self::without_limit(name, time, base) }
    }

    pub fn without_limit(name: &str, time: Duration, base: Duration) -> Self {
        Self {
            name: name.to_owned(),
            milliseconds: milliseconds(time),
            base_milliseconds: milliseconds(base),
            ratio: time.as_secs_f64() / base.as_secs_f64(),
            limit: None,
        }
    }

    pub fn is_over_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.ratio > limit)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<58} {:>8.2} ms {:>7.2} x", self.name, self.milliseconds, self.ratio)?;
        match self.limit {
            Some(limit) if self.is_over_limit() => write!(f, "  OVER {limit}"),
            Some(limit) => write!(f, "  within {limit}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_whether_its_ratio_is_within_the_limit() {
        let row = |ms, limit| Row::new("hook / true", Duration::from_millis(ms), Duration::from_millis(2), limit);
        assert!(row(5, 2.5).to_string().ends_with("5.00 ms    2.50 x  within 2.5"));
        assert!(row(6, 2.5).to_string().ends_with("6.00 ms    3.00 x  OVER 2.5"));
        let peer = Row::without_limit("peer", Duration::from_millis(6), Duration::from_millis(2));
        assert!(peer.to_string().ends_with("3.00 x"));
    }
}
