{%- let (reports, compiler, file) = (case.reports_c(), "cc", "FILE.c") -%}
{% include "c_family/header.c" %}

#define _GNU_SOURCE
INCLUDES
{% include "c_family/streaming_header.h" %}
{% block declarations %}{% endblock %}
{%- if case.options.is_stream %}

// Puts the next bytes of the data into `buffer`: 1 to `size` of them, or 0 at the data's end, or -1 with errno.
typedef ssize_t producer(void *context, void *buffer, size_t size);
{%- endif %}

static int open_file(const char *path, int flags{% if case.chooses_mode() %}, mode_t mode{% endif %})
{
    int fd;
    do
        fd = open(path, flags{{ case.open_flags_c() }} | O_CLOEXEC, {% if case.chooses_mode() %}mode{% else %}0666{% endif %});
    while (fd < 0 && errno == EINTR);
{%- if case.is_direct() %}
    // A filesystem without direct I/O refuses, but has made the file.
    if (fd < 0 && errno == EINVAL)
        fd = open(path, (flags & ~O_EXCL){{ case.sync_flags_c() }} | O_CLOEXEC, {% if case.chooses_mode() %}mode{% else %}0666{% endif %});
{%- endif %}
    return fd;
}
{%- include "c_family/keep_mode.c" %}
{%- include "c_family/omit_checksums.c" %}
{%- include "c_family/has_failed.c" %}
{%- include "c_family/end_direct.c" %}
{%- include "c_family/source.c" %}
{%- include "c_family/reserve.c" %}
{%- include "c_family/ahead.c" %}
{%- include "c_family/fill_with_zeros.c" %}
{%- include "c/huge_pages.c" %}
{%- block helpers %}{% endblock %}
{%- block fill %}{% endblock %}
{%- include "c/sync_directory.c" %}

{% if case.copies() -%}
// EINVAL: the source is no regular file{% if case.meets_source() %}, or is the other file itself{% endif %}. EIO: its length has changed.
int copy_file(const char *source, const char *path)
{%- else if case.options.is_stream -%}
{%- if case.expects() -%}
// Space for `expected` bytes is prepared. The file ends with the data.
{% endif -%}
int write_stream(const char *path, producer *next, void *context{% if case.expects() %}, size_t expected{% endif %})
{%- else -%}
int write_file(const char *path, const void *data, size_t size)
{%- endif %}
{
{%- if case.copies() %}
    int input;
    do
        input = open(source, O_RDONLY{% if case.is_direct_on_both_sides() %} | O_DIRECT{% endif %} | O_CLOEXEC);
    while (input < 0 && errno == EINTR);
{%- if case.is_direct_on_both_sides() %}
    if (input < 0 && errno == EINVAL)
        input = open(source, O_RDONLY | O_CLOEXEC);
{%- endif %}
    struct stat status;
    if (input < 0)
        return -1;
    int error = fstat(input, &status) == 0 ? 0 : errno;
    if (error == 0 && {% if case.meets_source() %}(!S_ISREG(status.st_mode) || is_source(path, &status)){% else %}!S_ISREG(status.st_mode){% endif %})
        error = EINVAL;
    if (error != 0) {
        close(input);
        errno = error;
        return -1;
    }
    const size_t size = (size_t)status.st_size;
{%- endif %}
{%- if case.options.is_atomic %}
    // Under another name until it is complete.
    char *name;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (asprintf(&name, "%s.%ld.%ld.tmp", path, (long)getpid(), now.tv_nsec) < 0)
{%- if case.copies() %} {
        close(input);
        errno = ENOMEM;
        return -1;
    }
{%- else %}
        return -1;
{%- endif %}
    struct stat old;
    const int replaces = stat(path, &old) == 0;
{%- endif %}
{%- if case.chooses_mode() %}
    const mode_t mode = {{ case.new_mode_c() }};
{%- endif %}
    int result = -1, fd = open_file({{ case.written_name() }}, {{ case.access_flags().join(" | ") }}{% if case.chooses_mode() %}, mode{% endif %});
    {% if !case.copies() %}int {% endif %}error = errno;
    if (fd >= 0) {
{%- if case.omits_checksums() %}
        omit_checksums(fd);
{%- endif %}
        result = {% if case.options.is_atomic %}replaces && keep_mode(fd, &old) != 0 ? -1 : {% endif %}fill({% if case.has_own_descriptors() %}{{ case.written_name() }}, {% endif %}fd, {% if case.copies() %}{% if case.threads() > 1 %}source, {% endif %}input, size
{%- else if case.options.is_stream %}next, context{% if case.expects() %}, expected{% endif %}
{%- else %}data, size{% endif %});
{%- if case.checks_end() %}
        if (result == 0)
            result = ends_at(input, size);
{%- endif %}
{%- if case.reopens_copy() %}
        if (result == 0{% if case.options.is_atomic %} && !replaces{% endif %})
            result = narrow_mode(fd, status.st_mode);
{%- endif %}
        error = errno;
        if (close(fd) != 0 && errno != EINTR && result == 0) {
            error = errno; // a late error of the filesystem, such as NFS
            result = -1;
        }
{%- if case.options.is_atomic %}
        if (result == 0 && (result = rename(name, path)) != 0)
            error = errno;
{%- endif %}
{%- if case.creates_name() && case.is_durable() %}
        if (result == 0 && (result = sync_directory(path)) != 0)
            error = errno;
{%- endif %}
{%- if case.creates_name() %}
        if (result != 0)
            unlink({{ case.written_name() }});
{%- endif %}
    }
{%- if case.copies() %}
    close(input);
{%- endif %}
{%- if case.options.is_atomic %}
    free(name);
{%- endif %}
    errno = error;
    return result;
}
{%- if case.options.is_program %}
{% include "c/main.c" %}
{%- endif %}
