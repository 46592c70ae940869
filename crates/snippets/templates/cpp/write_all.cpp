
{% if case.is_vectored() %}
// Writes all bytes of a vector, and changes it.
void write_all(int fd, iovec *vector, int count{% if case.is_positional() %}, std::size_t offset{% endif %}{% if case.is_dontcache() %}, int &flags{% endif %})
{
    while (count > 0) {
{%- if case.has_flags() %}
        const ssize_t result = ::pwritev2(fd, vector, count, {% if case.is_positional() %}static_cast<off_t>(offset){% else %}-1{% endif %}, {% if case.is_dontcache() %}flags{% else %}RWF_DSYNC{% endif %});
{%- else if case.is_positional() %}
        const ssize_t result = ::pwritev(fd, vector, count, static_cast<off_t>(offset));
{%- else %}
        const ssize_t result = ::writev(fd, vector, count);
{%- endif %}
{%- else %}
// A call may write less, and a signal may interrupt it.
void write_all(int fd, const char *data, std::size_t size{% if case.is_positional() %}, std::size_t offset{% endif %}{% if case.is_dontcache() %}, int &flags{% endif %})
{
{%- if case.is_direct() && case.copies() %}
    // The end of the file is less than a block: through the page cache.
    const std::size_t rest = size % block_size;
    if (rest > 0) {
        if (size > rest)
            write_all(fd, data, size - rest);
        if (end_direct(fd) != 0)
            fail("fcntl");
        data += size - rest;
        size = rest;
    }
{%- endif %}
    while (size > 0) {
{%- if case.has_flags() %}
        const iovec all{const_cast<char *>(data), size};
        const ssize_t result = ::pwritev2(fd, &all, 1, {% if case.is_positional() %}static_cast<off_t>(offset){% else %}-1{% endif %}, {% if case.is_dontcache() %}flags{% else %}RWF_DSYNC{% endif %});
{%- else if case.is_positional() %}
        const ssize_t result = ::pwrite(fd, data, size, static_cast<off_t>(offset));
{%- else %}
        const ssize_t result = ::write(fd, data, size);
{%- endif %}
{%- endif %}
{%- if case.is_dontcache() %}
        if (result < 0 && errno == EOPNOTSUPP && (flags & RWF_DONTCACHE)) {
            // Unsupported here: the page cache keeps the data.
            flags &= ~RWF_DONTCACHE;
            continue;
        }
{%- endif %}
        const std::size_t written = written_by("{% if case.has_flags() %}pwritev2{% else %}{% if case.is_positional() %}p{% endif %}write{% if case.is_vectored() %}v{% endif %}{% endif %}", result);
{%- if case.is_vectored() %}
{%- if case.is_positional() %}
        offset += written;
{%- endif %}
        // A call may write less.
        std::size_t done = written;
        for (; count > 0 && done >= vector->iov_len; ++vector, --count)
            done -= vector->iov_len;
        if (count > 0) {
            vector->iov_base = static_cast<char *>(vector->iov_base) + done;
            vector->iov_len -= done;
        }
{%- else %}
        data += written;
        size -= written;
{%- if case.is_positional() %}
        offset += written;
{%- endif %}
{%- endif %}
    }
}
