

static int fill(int fd, producer *next, void *context{% if case.expects() %}, size_t expected{% endif %})
{
{%- if case.reserves() %}
    if (reserve(fd, expected) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, expected) != 0)
        return -1;
{%- endif %}
    void *buffer = NULL;
    if ((errno = {{ case.memalign_c("&buffer", "4096") }}, {% if case.has_ring() %}DEPTH * {% endif %}CHUNK)) != 0)
        return -1;
    off_t end = write_chunks(fd, buffer, next, context);
    free(buffer);
    if (end < 0)
        return -1;
{%- if case.expects() %}
{%- if case.is_durable() && !case.syncs_at_end() %}
    if ((size_t)end < expected && (ftruncate(fd, end) != 0 || fdatasync(fd) != 0))
        return -1;
{%- else %}
    if ((size_t)end < expected && ftruncate(fd, end) != 0)
        return -1;
{%- endif %}
{%- endif %}
{%- if case.reserves_ahead() %}
    // The file ends with the data.
    if (ftruncate(fd, end) != 0{% if case.is_durable() && !case.syncs_at_end() %} || fdatasync(fd) != 0{% endif %})
        return -1;
{%- endif %}
{%- include "c/sync_at_end.c" %}
}
