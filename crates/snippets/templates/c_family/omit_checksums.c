{%- if case.omits_checksums() %}

// While the file is empty: on btrfs, it has neither checksums nor copies on write from now on. Others refuse.
static void omit_checksums(int fd)
{
    int flags;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_NOCOW_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
}
{%- endif %}
