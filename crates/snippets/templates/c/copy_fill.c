
static int fill({% if way.has_own_descriptors() %}const char *path, {% endif %}int fd, {% if way.threads() > 1 %}const char *source, {% endif %}int input, size_t size)
{
{%- if way.reserves() %}
    if (size > 0 && reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if way.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if way.threads() > 1 %}
    if (in_parts({% if way.has_own_descriptors() %}path, {% endif %}fd, source, input, size) != 0)
        return -1;
{%- else %}
    if (copy_range(fd, input, 0, size) != 0)
        return -1;
{%- endif %}
{%- if way.overwrites() %}
    /* The file may have been longer. */
    if (ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
{%- include "c/sync_at_end.c" %}
}
