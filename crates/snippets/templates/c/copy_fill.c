
static int fill({% if case.has_own_descriptors() %}const char *path, {% endif %}int fd, {% if case.threads() > 1 %}const char *source, {% endif %}int input, size_t size)
{
{%- if case.reserves() %}
    if (size > 0 && reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.threads() > 1 %}
    if (in_parts({% if case.has_own_descriptors() %}path, {% endif %}fd, source, input, size) != 0)
        return -1;
{%- else %}
    if ({{ case.copy_function() }}(fd, input, 0, size) != 0)
        return -1;
{%- endif %}
{%- if case.overwrites() %}
    // The file may have been longer.
    if (ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
{%- include "c/sync_at_end.c" %}
}
