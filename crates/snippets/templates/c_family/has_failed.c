{%- if case.loops_writing() %}

// Whether to stop. A call that writes nothing would be repeated forever.
static int has_failed(ssize_t written)
{
    if (written == 0)
        errno = EIO;
    return written == 0 || (written < 0 && errno != EINTR);
}
{%- endif %}
