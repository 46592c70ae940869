{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block fill %}

// Writes the buffer of a stream. It continues after a signal, when stdio itself would drop the rest.
static ssize_t write_buffer(void *fd, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t written = write(*(const int *)fd, data + at, size - at);
        if (has_failed(written))
            return 0;
        at += written > 0 ? (size_t)written : 0;
    }
    return (ssize_t)size;
}

static int fill(int fd, const char *data, size_t size)
{
{%- if case.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -1;
    FILE *stream = fopencookie(&fd, "w", (cookie_io_functions_t){.write = write_buffer});
    if (stream == NULL)
        return -1;
    // As large as that of fdopen(3).
    char buffer[BUFSIZ];
    setvbuf(stream, buffer, _IOFBF, status.st_blksize < BUFSIZ ? (size_t)status.st_blksize : BUFSIZ);
    int error = 0;
    for (size_t at = 0; at < size && error == 0;) {
        size_t length = size - at < CHUNK ? size - at : CHUNK;
        if (fwrite(data + at, 1, length, stream) != length)
            error = errno;
        at += length;
    }
    // The rest of the buffer may meet a full disk.
    if (fclose(stream) != 0 && error == 0)
        error = errno;
    if (error != 0) {
        errno = error;
        return -1;
    }
{%- include "c/sync_at_end.c" %}
}
{% endblock %}
