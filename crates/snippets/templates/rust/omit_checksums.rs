{%- if case.omits_checksums() %}

/// For an empty file: btrfs then makes neither checksums nor copies on write. Others refuse.
fn omit_checksums(file: &File) {
    if let Ok(flags) = rustix::fs::ioctl_getflags(file) {
        let _ = rustix::fs::ioctl_setflags(file, flags | rustix::fs::IFlags::NOCOW);
    }
}
{%- endif %}
