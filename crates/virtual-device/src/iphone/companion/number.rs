//! Numbers as Apple's two writers of JSON put them.

/// Writes a double with 17 significant digits, as `JSONSerialization` and `NSStringFromRect` do: `0.33333333333333331`.
pub fn long(value: f64) -> String {
    const DIGITS: i32 = 17;
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let exponent = value.abs().log10().floor() as i32;
    let decimals = (DIGITS - 1 - exponent).clamp(0, 40) as usize;
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Writes the shortest text that reads back as the same double, as `JSONEncoder` does.
pub fn short(value: f64) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_have_the_digits_that_idb_documents() {
        assert_eq!(long(1.0 / 3.0), "0.33333333333333331");
        assert_eq!(short(1.0 / 3.0), "0.3333333333333333");
        assert_eq!(long(178.0 / 3.0), "59.333333333333336");
        assert_eq!((long(393.0), short(393.0)), ("393".to_owned(), "393".to_owned()));
        assert_eq!((long(16.5), long(-0.5)), ("16.5".to_owned(), "-0.5".to_owned()));
    }
}
