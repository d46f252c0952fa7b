//! File systems that can't share a WAL between processes: its index is memory that all of them map.

use std::path::Path;

/// Returns the kind of file system of a path, if it can't share a WAL.
pub(crate) fn without_shared_memory(path: &Path) -> Option<&'static str> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    kind(rustix::fs::statfs(folder).ok()?.f_type as u64 & 0xffff_ffff)
}

/// Returns the name for a file system number, as in `linux/magic.h` and the headers of the file systems.
const fn kind(magic: u64) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
        0x0102_1997 => Some("9p"),
        // virtiofs reports the number of FUSE.
        0x6573_5546 => Some("FUSE or virtiofs"),
        0x00c3_6400 => Some("Ceph"),
        0x5346_414f => Some("AFS"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_disks_share_memory_and_the_network_does_not() {
        for (magic, expect) in
            [(0xef53, None), (0x0102_1994, None), (0x9123_683e, None), (0x5846_5342, None), (0x794c_7630, None)]
        {
            assert_eq!(kind(magic), expect, "{magic:x}");
        }
        assert_eq!((kind(0x6969), kind(0xff53_4d42), kind(0x0102_1997)), (Some("NFS"), Some("SMB"), Some("9p")));
        assert_eq!(kind(0x6573_5546), Some("FUSE or virtiofs"));
        assert_eq!(without_shared_memory(&std::env::temp_dir().join("x")), None);
    }
}
