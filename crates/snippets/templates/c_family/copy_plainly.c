

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
        const size_t most = until - from < sizeof buffer ? until - from : sizeof buffer;
        const ssize_t got = pread(input, buffer, most, (off_t)from);
        if (has_failed(got)) // 0: the source has become shorter
            return -1;
        const size_t end = from + (got > 0 ? (size_t)got : 0);
        for (const char *data = buffer; from < end;) {
            const ssize_t written = pwrite(fd, data, end - from, (off_t)from);
            if (has_failed(written))
                return -1;
            data += written > 0 ? written : 0;
            from += written > 0 ? (size_t)written : 0;
        }
    }
    return 0;
}
