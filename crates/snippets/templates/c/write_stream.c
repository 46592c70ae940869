
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

// Writes the producer's data. Returns its bytes, or -1 with errno.
static off_t write_chunks(int fd, char *buffer, producer *next, void *context)
{
    off_t at = 0;
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
{%- if case.is_direct() %}
        ssize_t whole = length / BLOCK * BLOCK;
        if (write_all(fd, buffer, (size_t)whole{% if case.is_positional() %}, at{% endif %}) != 0)
            return -1;
        // The rest is less than a block: through the page cache.
        if (whole < length) {
            if (end_direct(fd) != 0)
                return -1;
            if (write_all(fd, buffer + whole, (size_t)(length - whole){% if case.is_positional() %}, at + whole{% endif %}) != 0)
                return -1;
        }
{%- else %}
        if (write_all(fd, buffer, (size_t)length{% if case.is_positional() %}, at{% endif %}) != 0)
            return -1;
{%- endif %}
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
