

// Where io_uring is missing or forbidden, as in many containers.
static int copy_plainly(int fd, int input, size_t from, size_t until)
{
{%- if case.is_direct() %}
    // The buffer and the end are not aligned.
    if (end_direct(fd) != 0 || end_direct(input) != 0)
        return -1;
{%- endif %}
    char buffer[64 << 10];
    while (from < until) {
        const ssize_t got = pread(input, buffer, until - from < sizeof buffer ? until - from : sizeof buffer, (off_t)from);
        if (has_failed(got)) // 0: the source has become shorter
            return -1;
        for (ssize_t at = 0; at < got;) {
            const ssize_t written = pwrite(fd, buffer + at, (size_t)(got - at), (off_t)from + at);
            if (has_failed(written))
                return -1;
            at += written > 0 ? written : 0;
        }
        from += got > 0 ? (size_t)got : 0;
    }
    return 0;
}
