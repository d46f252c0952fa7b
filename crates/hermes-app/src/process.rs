//! Processes of this machine, as Linux's `/proc` shows them.

/// Fields of `/proc/PROCESS/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Whether it has ended and waits for its parent to notice.
    pub(crate) is_over: bool,
    /// The process id of the session's leader.
    pub(crate) session: i32,
    /// When the process started, in clock ticks since the start of the machine.
    pub(crate) start: u64,
}

/// Reads the fields of a process, or of this one (`self`). `None` without Linux's `/proc`, or if the process is gone.
pub(crate) fn stat(process: &str) -> Option<Stat> {
    parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Parses the text of `/proc/PROCESS/stat`. Its second field is the name of the program, in parentheses, and may hold
/// anything; the third is the state, the sixth the session, the 22nd the start.
fn parse(text: &str) -> Option<Stat> {
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X" | "x");
    Some(Stat { is_over, session: fields.nth(2)?.parse().ok()?, start: fields.nth(15)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_a_name_of_any_form() {
        let text = "4242 (a ) 7 (b) S 1 4242 4200 0 -1 4194304 83 0 0 0 1 2 3 4 20 0 1 0 987654 2301952 226 rest";
        assert_eq!(parse(text), Some(Stat { is_over: false, session: 4200, start: 987_654 }));
        assert!(parse(&text.replace(") S 1", ") Z 1")).unwrap().is_over);
        assert_eq!(parse("4242 (cut S 1 4242"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_first_process_is_the_oldest() {
        let (own, first) = (stat("self").unwrap(), stat("1").unwrap());
        assert!(own.start > first.start && !own.is_over, "{own:?}, {first:?}");
    }
}
