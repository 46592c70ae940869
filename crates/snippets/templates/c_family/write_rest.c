{%- if case.is_direct() %}

// Writes the end, less than a block.
static int write_rest(int fd, const char *data, size_t from, size_t until)
{
    if (end_direct(fd) != 0)
        return -1;
    while (from < until) {
        const ssize_t written = pwrite(fd, data + from, until - from, (off_t)from);
        if (has_failed(written))
            return -1;
        from += written > 0 ? (size_t)written : 0;
    }
    return {% if case.sync_every().is_some() || case.is_rwf_dsync() %}fdatasync(fd){% else %}0{% endif %};
}
{%- endif %}
