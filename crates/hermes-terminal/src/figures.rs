//! Numbers, sizes and money for people.

/// Returns a count and what is counted; `things` is the plural.
pub fn plural(count: u64, things: &str) -> String {
    let one = match things {
        "indexes" => "index",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    format!("{} {}", number(count), if count == 1 { one } else { things })
}

/// Returns a number with commas between thousands.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with about four digits and a unit, such as `12.3k`.
pub fn short(number: i64) -> String {
    let mut amount = number.unsigned_abs() as f64;
    if amount < 10_000.0 {
        return number.to_string();
    }
    let sign = if number < 0 { "-" } else { "" };
    for unit in ["k", "M", "G"] {
        amount /= 1_000.0;
        // A number that would be rounded to 1000.0 gets the next unit.
        if amount < 999.95 {
            return format!("{sign}{amount:.1}{unit}");
        }
    }
    format!("{sign}{:.1}T", amount / 1_000.0)
}

/// Returns an amount of US dollars: whole cents, or four decimals below one cent.
pub fn dollars(amount: f64) -> String {
    if amount != 0.0 && amount.abs() < 0.01 {
        return format!("${amount:.4}");
    }
    let cents = format!("{:.2}", amount.abs());
    let (whole, rest) = cents.split_once('.').unwrap_or((&cents, "00"));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), number);
    format!("{}${whole}.{rest}", if amount < 0.0 { "-" } else { "" })
}

/// Returns a size in bytes, KiB, MiB or GiB.
pub fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if amount < 1024.0 || unit == "GiB" {
            return if unit == "bytes" { plural(bytes, unit) } else { format!("{amount:.1} {unit}") };
        }
        amount /= 1024.0;
    }
    number(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_for_people() {
        for (count, expect) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(count), expect);
        }
        for (bytes, expect) in
            [(1, "1 byte"), (1_023, "1,023 bytes"), (1_024, "1.0 KiB"), (5 << 20, "5.0 MiB"), (3 << 40, "3072.0 GiB")]
        {
            assert_eq!(size(bytes), expect);
        }
        for (count, expect) in [
            (0, "0"),
            (-3, "-3"),
            (9_999, "9999"),
            (10_000, "10.0k"),
            (999_949, "999.9k"),
            (999_950, "1.0M"),
            (-2_500_000, "-2.5M"),
            (i64::MAX, "9223372.0T"),
        ] {
            assert_eq!(short(count), expect);
        }
        for (amount, expect) in [
            (0.0, "$0.00"),
            (0.0042, "$0.0042"),
            (0.01, "$0.01"),
            (12.345, "$12.35"),
            (1_742.08, "$1,742.08"),
            (-3.0, "-$3.00"),
        ] {
            assert_eq!(dollars(amount), expect);
        }
        assert_eq!((plural(1, "indexes"), plural(2, "indexes")), ("1 index".into(), "2 indexes".into()));
    }
}
