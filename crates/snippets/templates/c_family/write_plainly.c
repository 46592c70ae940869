

// Where io_uring is missing or forbidden, as in many containers.
static int write_plainly(int fd, const char *data, size_t size, off_t offset)
{
{%- if case.is_direct() %}
    // The data may not be aligned.
    if (end_direct(fd) != 0)
        return -1;
{%- endif %}
    while (size > 0) {
        const ssize_t written = pwrite(fd, data, size, offset);
        if (has_failed(written))
            return -1;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
        offset += written > 0 ? written : 0;
    }
    return {% if let Some(call) = case.sync_without_ring() %}{{ call }}(fd){% else %}0{% endif %};
}
