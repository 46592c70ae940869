{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/chunk.c" %}
{%- if way.threads() > 1 %}
enum { THREADS = {{ way.threads() }} };
{%- endif %}
{% endblock %}
{% block run %}
        FILE *stream = fdopen(fd, "w");
        if (stream == NULL) {
            error = errno;
            close(fd);
        } else {
            result = {% if way.atomic() %}replaces && keep_mode(fd, &old) != 0 ? -1 : {% endif %}fill(stream, fd, data, size);
            error = errno;
            if (fclose(stream) != 0 && result == 0) {
                error = errno;
                result = -1;
            }
        }
{%- endblock %}
{% block fill %}

static int fill(FILE *stream, int fd, const char *data, size_t size)
{
{%- if way.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- else %}
    (void)fd;
{%- endif %}
{%- if way.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if way.chunk().is_none() %}
    const size_t CHUNK = size;
{%- endif %}
    for (size_t at = 0; at < size;) {
        size_t length = size - at < CHUNK ? size - at : CHUNK;
        if (fwrite(data + at, 1, length, stream) != length)
            return -1;
        at += length;
    }
    /* The rest of the buffer may meet a full disk. */
    if (fflush(stream) != 0)
        return -1;
{%- if way.syncs_at_end() %}
    /* After an error of this call, the data may be lost though a second call succeeds: write it anew. */
    return {{ way.sync_name() }}(fd);
{%- else %}
    return 0;
{%- endif %}
}
{% endblock %}
