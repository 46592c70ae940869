// A call may write less, and a signal may interrupt it.
static int write_all(int fd, const char *data, size_t size)
{
{%- if case.is_direct() %}
    // The end of the file is less than a block: through the page cache.
    size_t rest = size % BLOCK;
    if (rest > 0 && size > BLOCK && write_all(fd, data, size - rest) == 0)
        return write_all(fd, data + size - rest, rest);
    if (rest > 0 && end_direct(fd) != 0)
        return -1;
{%- endif %}
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (has_failed(written))
            return -1;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}
