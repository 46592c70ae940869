{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block helpers %}
{%- if case.is(Method::ReadWrite) || case.is(Method::MmapWrite) %}

{% include "c/write_all.c" %}
{%- endif %}
{%- include "c_family/behind.c" %}

// Copies the bytes between two offsets. Both files are at their position `from`.
static int copy_range(int fd, int input, size_t from, size_t until)
{
    const size_t size = until - from;
{%- if case.is_sequential() && !case.maps_source() && !case.keeps_holes() %}
    posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
    int result = 0;
{%- if case.is(Method::ReadWrite) %}
    char *buffer = NULL;
    size_t buffer_size = size < CHUNK ? size : CHUNK;
    if ((errno = posix_memalign((void **)&buffer, 4096, buffer_size > 0 ? buffer_size : 1)) != 0)
        return -1;
{%- else if case.is(Method::MmapWrite) %}
    if (size == 0)
        return 0;
    char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, input, (off_t)from);
    if (map == MAP_FAILED)
        return -1;
{%- if case.is_sequential() %}
    madvise(map, size, MADV_WILLNEED);
    madvise(map, size, MADV_SEQUENTIAL);
{%- endif %}
{%- if case.populates() %}
    size_t present = 0;
{%- endif %}
{%- else if case.is(Method::Splice) %}
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    // It holds a chunk, up to the limit of ordinary users: see pipe(7).
    fcntl(ends[1], F_SETPIPE_SZ, {{ case.pipe_c() }});
{%- endif %}
{%- if case.writeback().is_some() %}
    struct behind behind = {(off_t)from, (off_t)from};
{%- endif %}
    for (size_t at = 0; at < size && result == 0;) {
        size_t most = size - at < CHUNK ? size - at : CHUNK;
{%- if case.is(Method::ReadWrite) %}
        ssize_t moved = read(input, buffer, most);
        if (moved > 0)
            result = write_all(fd, buffer, (size_t)moved);
{%- else if case.is(Method::MmapWrite) %}
{%- if case.populates() %}
        if (at >= present) {
            present = size - at < WINDOW ? size : at + WINDOW;
            madvise(map + at, present - at, MADV_POPULATE_READ); // older kernels refuse
        }
{%- endif %}
        ssize_t moved = (ssize_t)most;
        result = write_all(fd, map + at, most);
{%- else if case.is(Method::Splice) %}
        ssize_t moved = splice(input, NULL, ends[1], NULL, most, SPLICE_F_MOVE | SPLICE_F_MORE);
        for (ssize_t left = moved; left > 0 && result == 0;) {
            ssize_t out = splice(ends[0], NULL, fd, NULL, (size_t)left, SPLICE_F_MOVE | SPLICE_F_MORE);
            if (has_failed(out))
                result = -1;
            left -= out > 0 ? out : 0;
        }
{%- else if case.is(Method::Sendfile) %}
        ssize_t moved = sendfile(fd, input, NULL, most);
{%- else %}
        ssize_t moved = copy_file_range(input, NULL, fd, NULL, most, 0);
{%- endif %}
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved == 0)
            errno = EIO; // the source has become shorter
        if (moved <= 0)
            result = -1;
        else
            at += (size_t)moved;
{%- if case.writeback().is_some() %}
        if (result == 0)
            result = write_behind(fd, &behind, (off_t)(from + at));
{%- endif %}
    }
{%- if case.is(Method::ReadWrite) %}
    free(buffer);
{%- else if case.is(Method::MmapWrite) %}
    int error = errno;
    munmap(map, size);
    errno = error;
{%- else if case.is(Method::Splice) %}
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
{%- endif %}
    return result;
}
{%- if case.keeps_holes() %}

// Copies the data between two offsets. The holes of the source remain holes.
static int copy_data(int fd, int input, size_t from, size_t until)
{
{%- if case.is_sequential() %}
    posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
    while (from < until) {
        off_t start = lseek(input, (off_t)from, SEEK_DATA);
        if (start < 0 && errno == ENXIO) { // a hole up to the end
            if (lseek(input, 0, SEEK_END) >= (off_t)until)
                return 0;
            errno = EIO; // the source has become shorter
        }
        if (start < 0)
            return -1;
        if (start >= (off_t)until)
            return 0;
        off_t end = lseek(input, start, SEEK_HOLE);
        if (end > (off_t)until)
            end = (off_t)until;
        if (end < 0 || lseek(input, start, SEEK_SET) < 0 || lseek(fd, start, SEEK_SET) < 0)
            return -1;
        if (copy_range(fd, input, (size_t)start, (size_t)end) != 0)
            return -1;
        from = (size_t)end;
    }
    return 0;
}
{%- endif %}
{%- include "c/copy_part.c" %}
{% endblock %}
{% block fill %}
{%- include "c/copy_fill.c" %}
{% endblock %}
