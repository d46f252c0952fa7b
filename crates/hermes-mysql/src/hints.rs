//! Notices about the settings of the server.

use crate::error::Failure;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

/// Returns the settings that impair the store, with advice.
pub(crate) async fn of(conn: &mut Conn) -> Result<Vec<String>, Failure> {
    let facts: Option<(u64, u64, u64, u64, String)> = conn
        .query_first(
            "SELECT @@max_allowed_packet, @@innodb_flush_log_at_trx_commit, @@innodb_ft_min_token_size, @@innodb_ft_max_token_size, \
             concat(@@log_bin, @@binlog_format)",
        )
        .await?;
    let Some((packet, flush, shortest, longest, log)) = facts else { return Ok(Vec::new()) };
    Ok(notices_for(packet, flush, shortest, longest, &log))
}

/// Minimum packet size for a message of 10 MB with its overhead.
const PACKET: u64 = 16 << 20;

fn notices_for(packet: u64, flush: u64, shortest: u64, longest: u64, log: &str) -> Vec<String> {
    let mut notices = Vec::new();
    if packet < PACKET {
        notices.push(format!(
            "messages beyond {} MB are refused, because max_allowed_packet of the server is {packet}; set it to 64M",
            packet >> 21
        ));
    }
    if flush != 1 {
        notices.push(format!(
            "acknowledged writes may be lost when the server's machine fails, because innodb_flush_log_at_trx_commit is {flush}; set it to 1"
        ));
    }
    if shortest > crate::indexes::SHORTEST || longest < crate::indexes::LONGEST {
        notices.push(format!(
            "searches read every message, because the server indexes only words of {shortest} to {longest} characters; \
             set innodb_ft_min_token_size to {} or less and innodb_ft_max_token_size to 84, then run `hermes sessions optimize --rebuild`",
            crate::indexes::SHORTEST
        ));
    }
    if log == "1STATEMENT" {
        notices.push("writes may be refused, because binlog_format is STATEMENT; set it to ROW or MIXED".to_owned());
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::notices_for;

    #[test]
    fn only_what_is_in_the_way_is_reported() {
        assert_eq!(notices_for(16 << 20, 1, 3, 84, "0MIXED"), Vec::<String>::new());
        let all = notices_for(1 << 20, 2, 8, 84, "1STATEMENT");
        assert_eq!(all.len(), 4, "{all:?}");
        assert!(all[0].contains("max_allowed_packet of the server is 1048576"), "{all:?}");
        assert_eq!(notices_for(16 << 20, 1, 3, 20, "1ROW").len(), 1);
    }
}
