
{%- include "c_family/border.c" %}

struct part {
{%- if case.has_own_descriptors() %}
    const char *path;
{%- endif %}
{%- if case.parts_have_file_c() %}
    int fd;
{%- endif %}
{%- if !case.has_own_maps() %}
    char *map;
{%- endif %}
    const char *data;
    size_t from, until;
    int error;
};

static void *run_part(void *argument)
{
    struct part *part = argument;
    size_t length = part->until - part->from;
    part->error = 0;
    if (length == 0)
        return NULL;
{%- if case.has_own_descriptors() %}
    int fd = part->from == 0 ? part->fd : open_file(part->path, {{ case.access_flags()[0] }}{% if case.chooses_mode() %}, 0{% endif %});
    if (fd < 0) {
        part->error = errno;
        return NULL;
    }
{%- endif %}
{%- if case.has_own_maps() %}
    char *map = map_file({% if case.has_own_descriptors() %}fd{% else %}part->fd{% endif %}, part->from, length);
    if (map == MAP_FAILED || write_part({% if case.syncs_file_on_the_way() %}{% if case.has_own_descriptors() %}fd{% else %}part->fd{% endif %}, {% endif %}map, part->data + part->from, length) != 0)
        part->error = errno;
{%- if case.syncs_at_end() && case.syncs_map() %}
    if (part->error == 0 && msync(map, length, MS_SYNC) != 0)
        part->error = errno;
{%- endif %}
    if (map != MAP_FAILED)
        munmap(map, length);
{%- else %}
    if (write_part({% if case.syncs_file_on_the_way() %}{% if case.has_own_descriptors() %}fd{% else %}part->fd{% endif %}, {% endif %}part->map + part->from, part->data + part->from, length) != 0)
        part->error = errno;
{%- endif %}
{%- if case.has_own_descriptors() %}
    if (part->from > 0 && close(fd) != 0 && errno != EINTR && part->error == 0)
        part->error = errno;
{%- endif %}
    return NULL;
}

static int in_parts({% if case.has_own_descriptors() %}const char *path, {% endif %}{% if case.parts_have_file_c() %}int fd, {% endif %}{% if !case.has_own_maps() %}char *map, {% endif %}const char *data, size_t size)
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
{%- if case.parts_have_file_c() %}
            .fd = fd,
{%- endif %}
{%- if !case.has_own_maps() %}
            .map = map,
{%- endif %}
            .data = data,
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
