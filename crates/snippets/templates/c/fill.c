

static int fill({% if case.has_own_descriptors() %}const char *path, {% endif %}int fd, const char *data, size_t size)
{
{%- if case.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.is_direct() %}
    size_t whole = size / BLOCK * BLOCK;
{%- endif %}
{%- if case.threads() > 1 %}
    if (in_parts({% if case.has_own_descriptors() %}path, {% endif %}fd, data, {{ case.whole_c() }}) != 0)
        return -1;
{%- else %}
    if (write_part(fd, data, {{ case.whole_c() }}{% if case.is_positional() || case.writeback().is_some() %}, 0{% endif %}) != 0)
        return -1;
{%- endif %}
{%- if case.is_direct() %}
    // The rest is no whole block: through the page cache.
    if (whole < size) {
        int opened = fcntl(fd, F_GETFL);
        if (opened < 0 || fcntl(fd, F_SETFL, opened & ~O_DIRECT) != 0)
            return -1;
        for (size_t at = whole; at < size;) {
            ssize_t written = pwrite(fd, data + at, size - at, (off_t)at);
            if (has_failed(written))
                return -1;
            at += written > 0 ? (size_t)written : 0;
        }
{%- if case.sync_every().is_some() || case.is_rwf_dsync() %}
        if (fdatasync(fd) != 0)
            return -1;
{%- endif %}
    }
{%- endif %}
{%- include "c/sync_at_end.c" %}
}
