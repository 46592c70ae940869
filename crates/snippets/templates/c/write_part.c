
// Writes `size` bytes {% if case.is_positional() %}from `offset` of the file on{% else %}at the file's position{% if case.writeback().is_some() %}, which is `offset`{% endif %}{% endif %}.
static int write_part(int fd, const char *data, size_t size{% if case.is_positional() || case.writeback().is_some() %}, off_t offset{% endif %})
{
{%- if case.is_direct() %}
    char *buffer = NULL;
    if ((uintptr_t)data % BLOCK != 0 && (errno = {{ case.memalign_c("(void **)&buffer", "BLOCK") }}, {% if case.chunk().is_none() %}size{% else %}{% if case.is_vectored() %}VECTOR * {% endif %}CHUNK{% endif %})) != 0)
        return -1;
{%- endif %}
{%- if case.sync_every().is_some() %}
    unsigned chunks = 0;
{%- endif %}
{%- if case.writeback().is_some() %}
    struct behind behind = {offset, offset};
{%- endif %}
    int result = 0;
    for (size_t at = 0; at < size && result == 0;) {
{%- if case.is_vectored() %}
        struct iovec vector[VECTOR];
        int count = 0;
        size_t length = 0;
        while (count < VECTOR && at + length < size) {
            size_t left = size - at - length, chunk = left < CHUNK ? left : CHUNK;
            vector[count++] = (struct iovec){(void *)(data + at + length), chunk};
            length += chunk;
        }
{%- if case.is_direct() %}
        if (buffer != NULL) {
            vector[0] = (struct iovec){memcpy(buffer, data + at, length), length};
            count = 1;
        }
{%- endif %}
        result = write_all(fd, vector, count{% if case.is_positional() %}, offset + (off_t)at{% endif %});
{%- else %}
        size_t length = size - at < CHUNK ? size - at : CHUNK;
{%- if case.is_direct() %}
        const char *from = buffer == NULL ? data + at : memcpy(buffer, data + at, length);
        result = write_all(fd, from, length{% if case.is_positional() %}, offset + (off_t)at{% endif %});
{%- else %}
        result = write_all(fd, data + at, length{% if case.is_positional() %}, offset + (off_t)at{% endif %});
{%- endif %}
{%- endif %}
        at += length;
{%- if let Some(every) = case.sync_every() %}
        chunks += {% if case.is_vectored() %}(unsigned)count{% else %}1{% endif %};
        if (result == 0 && chunks >= {{ every }}) {
            chunks = 0;
            result = {{ case.sync_name() }}(fd);
        }
{%- endif %}
{%- if case.writeback().is_some() %}
        if (result == 0)
            result = write_behind(fd, &behind, offset + (off_t)at);
{%- endif %}
    }
{%- if case.sync_every().is_some() %}
    if (result == 0 && chunks > 0)
        result = {{ case.sync_name() }}(fd);
{%- endif %}
{%- if case.is_direct() %}
    free(buffer);
{%- endif %}
    return result;
}
