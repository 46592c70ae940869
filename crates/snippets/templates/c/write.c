{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{%- if case.is_dontcache() %}

static _Thread_local int write_flags = {{ case.flags_c() }};
{%- else if case.is_rwf_dsync() %}

static const int write_flags = RWF_DSYNC;
{%- endif %}
{% endblock %}
{% block helpers %}
{%- if case.is_vectored() %}

// Writes all bytes of a vector, and changes it.
static int write_all(int fd, struct iovec *vector, int count{% if case.is_positional() %}, off_t offset{% endif %})
{
    while (count > 0) {
{%- if case.has_flags() %}
        ssize_t written = pwritev2(fd, vector, count, {% if case.is_positional() %}offset{% else %}-1{% endif %}, write_flags);
{%- else if case.is_positional() %}
        ssize_t written = pwritev(fd, vector, count, offset);
{%- else %}
        ssize_t written = writev(fd, vector, count);
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
{%- if case.is_positional() %}
        offset += written;
{%- endif %}
        // A call may write less.
        size_t done = (size_t)written;
        while (count > 0 && done >= vector->iov_len) {
            done -= vector->iov_len;
            vector++;
            count--;
        }
        if (count > 0) {
            vector->iov_base = (char *)vector->iov_base + done;
            vector->iov_len -= done;
        }
    }
    return 0;
}
{%- else %}
{%- include "c/write_bytes.c" %}
{%- endif %}
{%- include "c_family/behind.c" %}
{%- if case.options.is_stream %}
{%- if case.has_writers() %}
{%- include "c/queue_threads.c" %}
{%- endif %}
{% include "c/write_stream.c" %}
{%- else %}
{% include "c/write_part.c" %}
{%- include "c_family/write_rest.c" %}
{%- endif %}
{%- if case.threads() > 1 %}
{% include "c/parts.c" %}
{%- endif %}
{% endblock %}
{% block fill %}
{%- if case.options.is_stream %}
{%- include "c/fill_stream.c" %}
{%- else %}
{%- include "c/fill.c" %}
{%- endif %}
{% endblock %}
