{%- if case.omits_checksums() %}

// For an empty file: btrfs then makes neither checksums nor copies on write. Others refuse.
static void omit_checksums(int fd)
{
    int flags;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_NOCOW_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
}
{%- endif %}
