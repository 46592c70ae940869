
{%- include "c_family/border.c" %}

struct part {
{%- if case.has_own_descriptors() %}
    const char *path;
{%- endif %}
    int fd;
{%- if case.copies() %}
    const char *source;
    int input;
{%- if case.shares_map() %}
    char *map;
{%- endif %}
{%- else %}
    const char *data;
{%- endif %}
    size_t from, until;
    int error;
};

static void *run_part(void *argument)
{
    struct part *part = argument;
{%- if case.has_own_descriptors() %}
    // A new descriptor has its own position. The first part uses the file's.
    int fd = part->from == 0 ? part->fd : open_file(part->path, {{ case.access_flags()[0] }}{% if case.chooses_mode() %}, 0{% endif %});
    int result = fd < 0 ? -1 : 0;
{%- if case.is_at_position() %}
    if (result == 0 && part->from > 0 && lseek(fd, (off_t)part->from, SEEK_SET) < 0)
        result = -1;
{%- endif %}
{%- endif %}
{%- if case.has_own_descriptors() %}
    if (result == 0)
        result =
{%- else %}
    int result =
{%- endif %}
{%- if case.copies() %} copy_part({% if case.shares_map() %}part->map{% else if case.has_own_descriptors() %}fd{% else %}part->fd{% endif %}, part->source, part->from == 0 ? part->input : -1, part->from, part->until);
{%- else %} write_part({% if case.has_own_descriptors() %}fd{% else %}part->fd{% endif %}, part->data + part->from, part->until - part->from{% if case.is_positional() || case.writeback().is_some() %}, (off_t)part->from{% endif %});
{%- endif %}
    part->error = result == 0 ? 0 : errno;
{%- if case.has_own_descriptors() %}
    if (part->from > 0 && fd >= 0 && close(fd) != 0 && errno != EINTR && part->error == 0)
        part->error = errno;
{%- endif %}
    return NULL;
}

static int in_parts({% if case.has_own_descriptors() %}const char *path, {% endif %}int fd, {% if case.shares_map() %}char *map, {% endif %}{% if case.copies() %}const char *source, int input{% else %}const char *data{% endif %}, size_t size)
{
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    int error = 0;
    unsigned started = 1;
    for (unsigned i = 0; i < THREADS; i++)
        parts[i] = (struct part){
{%- if case.has_own_descriptors() %}
            .path = path,
{%- endif %}
            .fd = fd,
{%- if case.copies() %}
            .source = source,
            .input = input,
{%- if case.shares_map() %}
            .map = map,
{%- endif %}
{%- else %}
            .data = data,
{%- endif %}
            .from = border(size, i),
            .until = border(size, i + 1),
        };
    for (; started < THREADS && error == 0; started += error == 0)
        error = pthread_create(&threads[started], NULL, run_part, &parts[started]);
    run_part(&parts[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < started && error == 0; i++)
        error = parts[i].error;
    errno = error;
    return error == 0 ? 0 : -1;
}
