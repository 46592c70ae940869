{%- if case.is_direct() %}

// From here on through the page cache.
static int end_direct(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags & ~O_DIRECT);
}
{%- endif %}
