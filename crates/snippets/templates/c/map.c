{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block helpers %}
{%- include "c_family/stores.c" %}
{%- include "c_family/map_target.c" %}

// Stores `size` bytes, which the mapping has from its offset `from` on.
static int write_part({% if case.syncs_file_on_the_way() %}int fd, {% endif %}char *map, const char *data, size_t size)
{
{%- if let Some(every) = case.sync_every() %}
    unsigned chunks = 0;
{%- if case.syncs_map() %}
    size_t synced = 0;
{%- endif %}
{%- endif %}
{%- if case.prepares_windows() %}
    size_t prepared = 0;
{%- endif %}
    for (size_t at = 0; at < size;) {
        size_t length = size - at < CHUNK ? size - at : CHUNK;
{%- if case.prepares_windows() %}
        if (at == prepared) {
            prepared = size - at < WINDOW ? size : at + WINDOW;
            if (prepare_window(map + at, prepared - at) != 0)
                return -1;
        }
        length = prepared - at < length ? prepared - at : length;
{%- endif %}
        {{ case.store_c() }}(map + at, data + at, length);
        at += length;
{%- if let Some(every) = case.sync_every() %}
        if (++chunks >= {{ every }} || at == size) {
            chunks = 0;
{%- if case.syncs_map() %}
            size_t page = synced / 4096 * 4096; // msync(2) begins at a page
            if (msync(map + page, at - page, MS_SYNC) != 0)
                return -1;
            synced = at;
{%- else %}
            if ({{ case.sync_name() }}(fd) != 0)
                return -1;
{%- endif %}
        }
{%- endif %}
    }
    return 0;
}
{%- if case.threads() > 1 %}
{% include "c/map_parts.c" %}
{%- endif %}
{% endblock %}
{% block fill %}

static int fill({% if case.has_own_descriptors() %}const char *path, {% endif %}int fd, const char *data, size_t size)
{
    if (size == 0) // a mapping cannot be empty
        return 0;
{%- if case.overwrites() %}
    // A mapping does not make the file longer. An access behind the end is SIGBUS.
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0 || ((size_t)end < size && ftruncate(fd, (off_t)size) != 0))
        return -1;
{%- endif %}
{%- if case.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.has_own_maps() %}
    return in_parts({% if case.has_own_descriptors() %}path, {% endif %}{% if case.parts_have_file_c() %}fd, {% endif %}data, size){% if case.syncs_at_end() && !case.syncs_map() %} != 0 ? -1 : {{ case.sync_name() }}(fd){% endif %};
{%- else %}
    char *map = map_file(fd, 0, size);
    if (map == MAP_FAILED)
        return -1;
{%- if case.threads() > 1 %}
    int result = in_parts({% if case.has_own_descriptors() %}path, {% endif %}{% if case.parts_have_file_c() %}fd, {% endif %}map, data, size), error = errno;
{%- else %}
    int result = write_part({% if case.syncs_file_on_the_way() %}fd, {% endif %}map, data, size), error = errno;
{%- endif %}
{%- if case.syncs_at_end() %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    if (result == 0 && (result = {% if case.syncs_map() %}msync(map, size, MS_SYNC){% else %}{{ case.sync_name() }}(fd){% endif %}) != 0)
        error = errno;
{%- endif %}
    munmap(map, size);
    errno = error;
    return result;
{%- endif %}
}
{% endblock %}
