{%- if case.reserves_ahead() %}

// Reserves blocks before a write up to `end`, many at a time: the file's length is not known yet.
static int reserve_ahead(int fd, off_t *reserved, off_t end)
{
    const off_t ahead = (off_t)64 << 20;
    while (*reserved >= 0 && *reserved < end) {
        const off_t more = end - *reserved > ahead ? end - *reserved : ahead;
        if (fallocate(fd, 0, *reserved, more) == 0)
            *reserved += more;
        else if (errno == EOPNOTSUPP)
            *reserved = -1; // this filesystem cannot reserve blocks
        else if (errno != EINTR)
            return -1;
    }
    return 0;
}
{%- endif %}
