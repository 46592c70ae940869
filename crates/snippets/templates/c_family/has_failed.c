{%- if case.loops_writing() %}

// Whether a call is not to be tried again: one that has written nothing would do so for ever.
static int has_failed(ssize_t written)
{
    if (written == 0)
        errno = EIO;
    return written == 0 || (written < 0 && errno != EINTR);
}
{%- endif %}
