
// Fills the buffer with the next chunk. Only the last is shorter.
static ssize_t next_chunk(producer *next, void *context, char *buffer)
{
    size_t length = 0;
    while (length < CHUNK) {
        ssize_t got = next(context, buffer + length, CHUNK - length);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

{%- if case.has_ring() %}

// Writes the end, which is less than a chunk.
static int write_end(int fd, char *buffer, ssize_t length, off_t at)
{
{%- include "c/write_chunk.c" %}
    return 0;
}

// Writes the producer's data. Returns its bytes, or -1 with errno.
static off_t write_chunks(int fd, char *memory, producer *next, void *context)
{
    struct queue queue = {.data = memory, .fd = fd{% if case.is_uring() && case.has_flags() %}, .flags = {{ case.flags_c() }}{% endif %}};
    off_t at = 0;
{%- if case.reserves_ahead() %}
    off_t reserved = 0;
{%- endif %}
    ssize_t length = 0;
    unsigned slot = 0;
    char *buffer = NULL;
    int error = start(&queue);
    while (error == 0 && (error = take(&queue, &slot)) == 0) {
        buffer = memory + slot * CHUNK;
        length = next_chunk(next, context, buffer);
{%- if case.reserves_ahead() %}
        if (length < 0 || reserve_ahead(fd, &reserved, at + length) != 0)
            error = errno;
{%- else %}
        if (length < 0)
            error = errno;
{%- endif %}
        if (error != 0 || (size_t)length < CHUNK)
            break;
        error = begin(&queue, slot, at);
        at += length;
    }
    const int failed = finish(&queue);
    errno = error == 0 ? failed : error;
    if (errno != 0 || (length > 0 && write_end(fd, buffer, length, at) != 0))
        return -1;
    return at + length;
}
{%- else %}

// Writes the producer's data. Returns its bytes, or -1 with errno.
static off_t write_chunks(int fd, char *buffer, producer *next, void *context)
{
    off_t at = 0;
{%- if case.reserves_ahead() %}
    off_t reserved = 0;
{%- endif %}
    ssize_t length;
{%- if case.sync_every().is_some() %}
    unsigned chunks = 0;
{%- endif %}
{%- if case.writeback().is_some() %}
    struct behind behind = {0, 0};
{%- endif %}
    do {
        length = next_chunk(next, context, buffer);
        if (length < 0)
            return -1;
{%- if case.reserves_ahead() %}
        if (reserve_ahead(fd, &reserved, at + length) != 0)
            return -1;
{%- endif %}
{%- filter indent(4) %}
{%- include "c/write_chunk.c" %}
{%- endfilter %}
        at += length;
{%- if let Some(every) = case.sync_every() %}
        chunks += length > 0;
        if (chunks >= {{ every }}) {
            chunks = 0;
            if ({{ case.sync_name() }}(fd) != 0)
                return -1;
        }
{%- endif %}
{%- if case.writeback().is_some() %}
        if (write_behind(fd, &behind, at) != 0)
            return -1;
{%- endif %}
    } while ((size_t)length == CHUNK);
{%- if case.sync_every().is_some() %}
    if (chunks > 0 && {{ case.sync_name() }}(fd) != 0)
        return -1;
{%- endif %}
    return at;
}
{%- endif %}
