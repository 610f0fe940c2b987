//! What the system says about this process.

/// The most memory that was resident at any moment, in MiB; `None` where the system does not say so.
#[must_use]
pub fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(field(&status, "VmHWM:")? / 1024)
}

/// The memory that is resident now, in KiB; `None` where the system does not say so.
#[must_use]
pub fn resident_kib() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Minor page faults of this process so far; `None` where the system does not say so.
#[must_use]
pub fn minor_faults() -> Option<u64> {
    // The second field is a name in parentheses, which may hold anything; the tenth is the one that is meant.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(7)?.parse().ok()
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_name() {
        assert_eq!(field("VmPeak:\t  9 kB\nVmHWM:\t    2048 kB\n", "VmHWM:"), Some(2048));
        assert_eq!(field("VmPeak:\t  9 kB\n", "VmHWM:"), None);
    }
}
