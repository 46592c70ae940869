

static int fill({% if case.has_own_descriptors() %}const char *path, {% endif %}int fd, const char *data, size_t size)
{
{%- if case.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.is_direct() %}
    size_t whole = size / BLOCK * BLOCK;
{%- endif %}
{%- if case.threads() > 1 %}
    if (in_parts({% if case.has_own_descriptors() %}path, {% endif %}fd, data, {{ case.end_of_calls() }}) != 0)
        return -1;
{%- else %}
    if (write_part(fd, data, {{ case.end_of_calls() }}{% if case.is_positional() || case.writeback().is_some() %}, 0{% endif %}) != 0)
        return -1;
{%- endif %}
{%- if case.is_direct() %}
    if (whole < size && write_rest(fd, data, whole, size) != 0)
        return -1;
{%- endif %}
{%- include "c/sync_at_end.c" %}
}
