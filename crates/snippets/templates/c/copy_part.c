{%- if case.threads() > 1 %}

// The same in a thread, with a new descriptor of the source unless it is given one.
static int copy_part({% if case.shares_map() %}char *map{% else %}int fd{% endif %}, const char *source, int given, size_t from, size_t until)
{
    int input = given >= 0 ? given : open(source, O_RDONLY{% if case.is_direct_on_both_sides() %} | O_DIRECT{% endif %} | O_CLOEXEC);
    if (input < 0)
        return -1;
    int result = from == 0 || lseek(input, (off_t)from, SEEK_SET) >= 0 ? {{ case.copy_function() }}({% if case.shares_map() %}map{% else %}fd{% endif %}, input, from, until) : -1;
    int error = errno;
    if (given < 0)
        close(input);
    errno = error;
    return result;
}
{% include "c/parts.c" %}
{%- endif %}
