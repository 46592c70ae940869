// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors("Returns 0, or -1 with errno.") %}
// {{ line }}
{%- endfor %}
{%- if case.maps_target() %}
// If the file is made shorter or its disk fills up meanwhile, SIGBUS ends the program
{%- if !case.reserves_blocks() %}:
// reserve its blocks with fallocate(2) where that matters{% endif %}.
{%- endif %}
// To compile it: cc -O2{% if case.threads() > 1 || case.is(Method::Pipeline) %} -pthread{% endif %} FILE.c
{%- if case.is_uring() %} -luring{% endif %}
{# an empty line #}
#define _GNU_SOURCE
INCLUDES
{% include "c_family/streaming_header.h" %}
{% block declarations %}{% endblock %}
{%- if case.streams() %}

// Puts the next bytes of the data into `buffer`: 1 to `size` of them, or 0 at the data's end, or -1 with errno.
typedef ssize_t producer(void *context, void *buffer, size_t size);
{%- endif %}

static int open_file(const char *path, int flags{% if case.atomic() %}, mode_t mode{% endif %})
{
    int fd;
    do
        fd = open(path, flags{{ case.open_flags_c() }} | O_CLOEXEC, {{ case.mode_c() }});
    while (fd < 0 && errno == EINTR);
{%- if case.is_direct() %}
    // A filesystem without direct I/O has made the file all the same.
    if (fd < 0 && errno == EINVAL)
        fd = open(path, (flags & ~O_EXCL){{ case.sync_flags_c() }} | O_CLOEXEC, {{ case.mode_c() }});
{%- endif %}
    return fd;
}
{%- if case.atomic() %}

// Gives the new file the mode of the one that it replaces, and its group and owner if it may.
static int keep_mode(int fd, const struct stat *old)
{
    if (fchown(fd, (uid_t)-1, old->st_gid) == 0 && fchown(fd, old->st_uid, (gid_t)-1) != 0)
        errno = 0; // only root may
    return fchmod(fd, old->st_mode & 0777);
}
{%- endif %}
{%- if case.loops_writing() %}

// Whether a call is not to be tried again: one that has written nothing would do so for ever.
static int has_failed(ssize_t written)
{
    if (written == 0)
        errno = EIO;
    return written == 0 || (written < 0 && errno != EINTR);
}
{%- endif %}
{%- match case.reserve_c() %}
{%- when Some with (call) %}

// Gives the file its {% if case.is_set_len() %}length{% else %}blocks: a full disk is known before any data is written{% endif %}.
static int reserve(int fd, size_t size)
{
    int result;
    if (size == 0) // it is refused
        return 0;
    do
        result = {{ call }};
    while (result {% if case.is_posix_fallocate() %}== EINTR{% else %}!= 0 && errno == EINTR{% endif %});
{%- if case.is_set_len() %}
    return result;
{%- else %}
{%- if case.is_posix_fallocate() %}
    if (result != 0)
        errno = result;
{%- endif %}
{%- if case.is_posix_fallocate() && case.is_direct() %}
    // EINVAL: glibc's substitute for it writes single bytes, which O_DIRECT refuses.
    if (result != 0 && (errno == EOPNOTSUPP || errno == EINVAL))
{%- else %}
    if (result != 0 && errno == EOPNOTSUPP)
{%- endif %}
        return {% if case.maps_target() %}ftruncate(fd, (off_t)size){% else %}0{% endif %}; // this filesystem cannot: the file is written all the same
    return result == 0 ? 0 : -1;
{%- endif %}
}
{%- when None %}
{%- endmatch %}
{%- if case.fills_with_zeros() %}

// Blocks that have been written once: overwriting them changes no metadata.
static int fill_with_zeros(int fd, size_t size)
{
    static const _Alignas(4096) char zeros[64 << 10];
{%- if case.is_direct() %}
    // O_DIRECT writes whole blocks: what is too much is cut off.
    const size_t end = (size + BLOCK - 1) / BLOCK * BLOCK;
{%- else %}
    const size_t end = size;
{%- endif %}
    for (size_t at = 0; at < end;) {
        size_t length = end - at < sizeof zeros ? end - at : sizeof zeros;
        ssize_t written = pwrite(fd, zeros, length, (off_t)at);
        if (has_failed(written))
            return -1;
        at += written > 0 ? (size_t)written : 0;
    }
{%- if case.is_direct() %}
    if (end > size && ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
    return fsync(fd);
}
{%- endif %}
{%- if case.makes_huge_pages() %}

// Memory in huge pages, where the kernel has some. Returns an error number.
static int huge_pages(void **memory, size_t size)
{
    const size_t huge = 2 << 20, whole = (size + huge - 1) / huge * huge;
    const int error = posix_memalign(memory, huge, whole);
    if (error == 0)
        madvise(*memory, whole, MADV_HUGEPAGE);
    return error;
}
{%- endif %}
{%- block helpers %}{% endblock %}
{%- block fill %}{% endblock %}
{%- if case.creates_name() && case.is_durable() %}

// The file's name is durable when its directory is.
static int sync_directory(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return -1;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return -1;
    int result = fsync(fd), error = errno;
    close(fd);
    errno = error;
    return result;
}
{%- endif %}

{% if case.copies() -%}
int copy_file(const char *source, const char *path)
{%- else if case.streams() -%}
{%- if case.expects() -%}
// `expected` bytes are got ready; the file ends where the data does.
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
    if (fstat(input, &status) != 0) {
        close(input);
        return -1;
    }
    size_t size = (size_t)status.st_size;
{%- endif %}
{%- if case.atomic() %}
    // Under another name until it is whole.
    char *name;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (asprintf(&name, "%s.%ld.%ld.tmp", path, (long)getpid(), now.tv_nsec) < 0)
        return -1;
    struct stat old;
    const int replaces = stat(path, &old) == 0;
{%- endif %}
    int result = -1, fd = open_file({{ case.name_c() }}, {{ case.access_c() }}{% if case.atomic() %}, replaces ? old.st_mode & 0777 : 0666{% endif %});
    int error = errno;
    if (fd >= 0) {
        result = {% if case.atomic() %}replaces && keep_mode(fd, &old) != 0 ? -1 : {% endif %}fill({% if case.has_own_descriptors() %}{{ case.name_c() }}, {% endif %}fd, {{ case.what_c() }});
        error = errno;
        if (close(fd) != 0 && errno != EINTR && result == 0) {
            error = errno; // a late error of the filesystem, such as NFS
            result = -1;
        }
{%- if case.atomic() %}
        if (result == 0 && (result = rename(name, path)) != 0)
            error = errno;
{%- endif %}
{%- if case.creates_name() && case.is_durable() %}
        if (result == 0 && (result = sync_directory(path)) != 0)
            error = errno;
{%- endif %}
{%- if case.removes_on_error() %}
        if (result != 0)
            unlink({{ case.name_c() }});
{%- endif %}
    }
{%- if case.copies() %}
    close(input);
{%- endif %}
{%- if case.atomic() %}
    free(name);
{%- endif %}
    errno = error;
    return result;
}
{%- if case.main() %}
{% if case.streams() %}
{% include "c/main_stream.c" %}
{% else if !case.copies() %}
// The content of a file, in memory that is good for O_DIRECT.
static char *content_of(const char *path, size_t *size)
{
    struct stat status;
    void *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return NULL;
    *size = (size_t)status.st_size;
    if ((errno = {{ case.memalign_c("&data", "2 << 20") }}, *size > 0 ? *size : 1)) != 0)
        return NULL;
    for (size_t at = 0; at < *size;) {
        ssize_t got = read(fd, (char *)data + at, *size - at);
        if (got == 0)
            errno = EIO;
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return NULL;
        at += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    return data;
}
{% endif %}
static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s SOURCE TARGET\n", argv[0]);
        return 2;
    }
{%- if case.streams() %}
    struct stat status;
    int source = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (source < 0 || fstat(source, &status) != 0) {
        perror(argv[1]);
        return 1;
    }
{%- else if !case.copies() %}
    size_t size;
    char *data = content_of(argv[1], &size);
    if (data == NULL) {
        perror(argv[1]);
        return 1;
    }
{%- endif %}
    int64_t start = now_ns();
    if ({{ case.main_call_c() }} != 0) {
        perror(argv[2]);
        return 1;
    }
    // For `writebench run --command`: the time without starting the program and reading its source.
    const char *phases = getenv("WRITEBENCH_PHASES_FD");
    if (phases != NULL)
        dprintf(atoi(phases), "write %lld\n", (long long)(now_ns() - start));
    return 0;
}
{%- endif %}
