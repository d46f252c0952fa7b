//! Which terminal a process belongs to.

use crate::process::stat;

/// Identifies the terminal of a process by its session: the shell that leads it and all programs started from there,
/// also in pipes and in the background. A service or a cron job has a session too, so it counts as a terminal of its
/// own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terminal(Option<String>);

impl Terminal {
    /// A process whose session is not known. All of them count as one terminal.
    pub const UNKNOWN: Self = Self(None);

    /// Returns the terminal of this process. Unknown if its session began outside the container it runs in.
    pub fn of_process() -> Self {
        let Some(leader) = leader() else { return Self::UNKNOWN };
        // The start tells sessions apart whose leaders had the same process id.
        let start = stat(&leader.to_string()).map_or_else(String::new, |stat| format!("-{}", stat.start));
        Self::named(format!("{leader}{start}"))
    }

    /// Returns a terminal by its name, which consists of letters, digits and dashes.
    pub fn named(name: impl Into<String>) -> Self {
        Self(Some(name.into()))
    }

    /// Returns the name, for file names.
    pub(crate) fn name(&self) -> &str {
        self.0.as_deref().unwrap_or("none")
    }
}

/// Returns the process id of the leader of this process's session.
///
/// Linux reports 0 for a leader outside the PID namespace of the process. `rustix::process::getsid` takes that for a
/// process id, which must not be 0, so the number comes from `/proc` there.
#[cfg(target_os = "linux")]
fn leader() -> Option<i32> {
    stat("self").map(|stat| stat.session).filter(|session| *session > 0)
}

/// Returns the process id of the leader of this process's session.
#[cfg(all(unix, not(target_os = "linux")))]
fn leader() -> Option<i32> {
    rustix::process::getsid(None).ok().map(|leader| leader.as_raw_nonzero().get())
}

/// Returns the process id of the leader of this process's session, which only Unix has.
#[cfg(not(unix))]
fn leader() -> Option<i32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_stays_in_its_terminal() {
        let here = Terminal::of_process();
        assert_eq!(here, Terminal::of_process());
        assert!(here.name().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{here:?}");
    }
}
