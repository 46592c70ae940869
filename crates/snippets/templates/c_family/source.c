{%- if case.meets_source() %}

// Whether the path leads to the source: to open it would empty that.
static int is_source(const char *path, const struct stat *source)
{
    struct stat target;
    return stat(path, &target) == 0 && target.st_dev == source->st_dev && target.st_ino == source->st_ino;
}
{%- endif %}
{%- if case.checks_end() %}

// Reads once more where the source should end: it may be longer now, or never had that length, as in /proc.
static int ends_at(int input, size_t size)
{
    char more;
    ssize_t got;
{%- if case.is_direct_on_both_sides() %}
    if (end_direct(input) != 0)
        return -1;
{%- endif %}
    do
        got = pread(input, &more, 1, (off_t)size);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        errno = EIO;
    return got == 0 ? 0 : -1;
}
{%- endif %}
{%- if case.reopens_copy() %}

// The owner may read and write the copy until now, because it is opened again.
static int narrow_mode(int fd, mode_t source)
{
    struct stat status;
    if ((source & 0600) == 0600)
        return 0;
    return fstat(fd, &status) == 0 ? fchmod(fd, status.st_mode & source & 0777) : -1;
}
{%- endif %}
