{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block helpers %}
{%- if case.is(Method::MmapMmap) %}
{%- include "c_family/stores.c" %}
{%- endif %}
{%- include "c_family/map_target.c" %}

// Copies the bytes between two offsets, the source's position being `from`, into a mapping that begins there.
static int copy_into(char *map, int input, size_t from, size_t until)
{
    const size_t size = until - from;
{%- if case.prepares_windows() %}
    size_t prepared = 0;
{%- endif %}
    int result = 0;
{%- if case.is(Method::MmapMmap) %}
    const char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, input, (off_t)from);
    if (data == MAP_FAILED)
        return -1;
{%- if case.is_sequential() %}
    madvise((void *)data, size, MADV_WILLNEED);
    madvise((void *)data, size, MADV_SEQUENTIAL);
{%- endif %}
{%- else if case.is_sequential() %}
    posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
    for (size_t at = 0; at < size && result == 0;) {
        size_t most = size - at < CHUNK ? size - at : CHUNK;
{%- if case.prepares_windows() %}
        if (at >= prepared) {
            prepared = WINDOW < size - at ? (at / WINDOW + 1) * WINDOW : size;
            prepared = prepared < size ? prepared : size;
{%- if case.is(Method::MmapMmap) && case.populates() %}
            madvise((void *)(data + at), prepared - at, MADV_POPULATE_READ); // older kernels refuse
{%- endif %}
            if ((result = prepare_window(map + at, prepared - at)) != 0)
                break;
        }
{%- endif %}
{%- if case.is(Method::MmapMmap) %}
        {{ case.store_c() }}(map + at, data + at, most);
        at += most;
{%- else %}
        ssize_t moved = read(input, map + at, most);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved == 0)
            errno = EIO; // the source has become shorter
        if (moved <= 0)
            result = -1;
        else
            at += (size_t)moved;
{%- endif %}
    }
{%- if case.is(Method::MmapMmap) %}
    int error = errno;
    munmap((void *)data, size);
    errno = error;
{%- endif %}
    return result;
}
{%- if case.has_own_maps() %}

static int copy_range(int fd, int input, size_t from, size_t until)
{
    if (from == until)
        return 0;
    char *map = map_file(fd, from, until - from);
    if (map == MAP_FAILED)
        return -1;
    int result = copy_into(map, input, from, until), error = errno;
{%- if case.syncs_at_end() && case.syncs_map() %}
    if (result == 0 && (result = msync(map, until - from, MS_SYNC)) != 0)
        error = errno;
{%- endif %}
    munmap(map, until - from);
    errno = error;
    return result;
}
{%- else if case.threads() > 1 %}

// The same with the mapping of the whole copy.
static int copy_range(char *map, int input, size_t from, size_t until)
{
    return from == until ? 0 : copy_into(map + from, input, from, until);
}
{%- endif %}
{%- include "c/copy_part.c" %}
{% endblock %}
{% block fill %}

static int fill({% if case.has_own_descriptors() %}const char *path, {% endif %}int fd, {% if case.threads() > 1 %}const char *source, {% endif %}int input, size_t size)
{
{%- if case.overwrites() %}
    // A mapping does not make the file longer, and it may have been longer.
    if (ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
    if (size == 0) // a mapping cannot be empty
        return 0;
{%- if case.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.has_own_maps() %}
    int result = in_parts({% if case.has_own_descriptors() %}path, {% endif %}fd, source, input, size);
    int error = errno;
{%- else %}
    char *map = map_file(fd, 0, size);
    if (map == MAP_FAILED)
        return -1;
{%- if case.threads() > 1 %}
    int result = in_parts({% if case.has_own_descriptors() %}path, {% endif %}fd, map, source, input, size), error = errno;
{%- else %}
    int result = copy_into(map, input, 0, size), error = errno;
{%- endif %}
{%- endif %}
{%- if case.syncs_at_end() && !(case.has_own_maps() && case.syncs_map()) %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    if (result == 0 && (result = {% if case.syncs_map() %}msync(map, size, MS_SYNC){% else %}{{ case.sync_name() }}(fd){% endif %}) != 0)
        error = errno;
{%- endif %}
{%- if !case.has_own_maps() %}
    munmap(map, size);
{%- endif %}
    errno = error;
    return result;
}
{% endblock %}
