

// A call may write less, and a signal may interrupt it.
static int write_all(int fd, const char *data, size_t size{% if case.is_positional() %}, off_t offset{% endif %})
{
    while (size > 0) {
{%- if case.has_flags() %}
        struct iovec all = {(void *)data, size};
        ssize_t written = pwritev2(fd, &all, 1, offset, write_flags);
{%- else if case.is_positional() %}
        ssize_t written = pwrite(fd, data, size, offset);
{%- else %}
        ssize_t written = write(fd, data, size);
{%- endif %}
{%- if case.is_dontcache() %}
        if (written < 0 && errno == EOPNOTSUPP && (write_flags & RWF_DONTCACHE)) {
            write_flags &= ~RWF_DONTCACHE; // unsupported here: the page cache keeps the data
            continue;
        }
{%- endif %}
        if (has_failed(written))
            return -1;
        if (written < 0)
            continue;
        data += written;
        size -= (size_t)written;
{%- if case.is_positional() %}
        offset += written;
{%- endif %}
    }
    return 0;
}
