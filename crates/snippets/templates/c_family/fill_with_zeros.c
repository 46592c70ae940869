{%- if case.fills_with_zeros() %}

// Writes zeros: overwriting written blocks changes no metadata.
static int fill_with_zeros(int fd, size_t size)
{
    _Alignas(4096) static const char zeros[64 << 10] = {0};
{%- if case.is_direct() %}
    // O_DIRECT writes whole blocks: the excess is cut off.
    const size_t end = (size + BLOCK - 1) / BLOCK * BLOCK;
{%- else %}
    const size_t end = size;
{%- endif %}
    for (size_t at = 0; at < end;) {
        size_t length = end - at < sizeof zeros ? end - at : sizeof zeros;
        ssize_t written = pwrite(fd, zeros, length, (off_t)at);
        if (has_failed(written))
            return -1;
        at += written > 0 ? (size_t)written : 0;
    }
{%- if case.is_direct() %}
    if (end > size && ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
{%- if case.is_dontcache() %}
    if (fsync(fd) != 0)
        return -1;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); // RWF_DONTCACHE would keep pages of the zeros
    return 0;
{%- else %}
    return fsync(fd);
{%- endif %}
}
{%- endif %}
