/* {{ way.name() }}
 *
{%- for line in way.about() %}
 * {{ line }}
{%- endfor %}
 *
{%- for line in way.errors("Returns 0, or -1 with errno.") %}
 * {{ line }}
{%- endfor %}
{%- if way.maps_target() %}
 * If the file is made shorter or its disk fills up meanwhile, SIGBUS ends the program
{%- if !way.reserves_blocks() %}:
 * reserve its blocks with fallocate(2) where that matters{% endif %}.
{%- endif %}
 * To compile it: cc -O2{% if way.threads() > 1 || way.is(Method::Pipeline) %} -pthread{% endif %} FILE.c
{%- if way.is_uring() %} -luring{% endif %}
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
{%- if way.creates_name() && way.is_durable() %}
#include <libgen.h>
{%- endif %}
#include <limits.h>
{%- if way.is_uring() %}
#include <liburing.h>
{%- endif %}
{%- if way.threads() > 1 || way.is(Method::Pipeline) %}
#include <pthread.h>
{%- endif %}
{%- if way.is(Method::Pipeline) %}
#include <semaphore.h>
{%- endif %}
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{%- if way.is(Method::Ficlone) %}
#include <linux/fs.h>
#include <sys/ioctl.h>
{%- endif %}
{%- if way.maps_target() || way.maps_source() || way.makes_huge_pages() %}
#include <sys/mman.h>
{%- endif %}
{%- if way.is(Method::Sendfile) %}
#include <sys/sendfile.h>
{%- endif %}
{%- if way.copies() || way.main() || way.atomic() || way.is(Method::Fwrite) %}
#include <sys/stat.h>
{%- endif %}
{%- if way.is_vectored() || way.has_flags() %}
#include <sys/uio.h>
{%- endif %}
#include <unistd.h>
{%- if way.main() || way.atomic() %}
#include <time.h>
{%- endif %}
{% block declarations %}{% endblock %}
{%- if way.streams() %}

/* Puts the next bytes of the data into `buffer`: 1 to `size` of them, or 0 at the data's end, or -1 with errno. */
typedef ssize_t producer(void *context, void *buffer, size_t size);
{%- endif %}

static int open_file(const char *path, int flags{% if way.atomic() %}, mode_t mode{% endif %})
{
    int fd;
    do
        fd = open(path, flags{{ way.open_flags_c() }} | O_CLOEXEC, {{ way.mode_c() }});
    while (fd < 0 && errno == EINTR);
{%- if way.is_direct() %}
    /* A filesystem without direct I/O has made the file all the same. */
    if (fd < 0 && errno == EINVAL)
        fd = open(path, (flags & ~O_EXCL){{ way.sync_flags_c() }} | O_CLOEXEC, {{ way.mode_c() }});
{%- endif %}
    return fd;
}
{%- if way.atomic() %}

/* Gives the new file the mode of the one that it replaces, and its group and owner if it may. */
static int keep_mode(int fd, const struct stat *old)
{
    if (fchown(fd, (uid_t)-1, old->st_gid) == 0 && fchown(fd, old->st_uid, (gid_t)-1) != 0)
        errno = 0; /* only root may */
    return fchmod(fd, old->st_mode & 0777);
}
{%- endif %}
{%- if way.loops_writing() %}

/* Whether a call is not to be tried again: one that has written nothing would do so for ever. */
static int has_failed(ssize_t written)
{
    if (written == 0)
        errno = EIO;
    return written == 0 || (written < 0 && errno != EINTR);
}
{%- endif %}
{%- match way.reserve_c() %}
{%- when Some with (call) %}

/* Gives the file its {% if way.is_set_len() %}length{% else %}blocks: a full disk is known before any data is written{% endif %}. */
static int reserve(int fd, size_t size)
{
    int result;
    if (size == 0) /* it is refused */
        return 0;
    do
        result = {{ call }};
    while (result {% if way.is_posix_fallocate() %}== EINTR{% else %}!= 0 && errno == EINTR{% endif %});
{%- if way.is_set_len() %}
    return result;
{%- else %}
{%- if way.is_posix_fallocate() %}
    if (result != 0)
        errno = result;
{%- endif %}
{%- if way.is_posix_fallocate() && way.is_direct() %}
    /* EINVAL: glibc's substitute for it writes single bytes, which O_DIRECT refuses. */
    if (result != 0 && (errno == EOPNOTSUPP || errno == EINVAL))
{%- else %}
    if (result != 0 && errno == EOPNOTSUPP)
{%- endif %}
        return {% if way.maps_target() %}ftruncate(fd, (off_t)size){% else %}0{% endif %}; /* this filesystem cannot: the file is written all the same */
    return result == 0 ? 0 : -1;
{%- endif %}
}
{%- when None %}
{%- endmatch %}
{%- if way.fills_with_zeros() %}

/* Blocks that have been written once: overwriting them changes no metadata. */
static int fill_with_zeros(int fd, size_t size)
{
    static const _Alignas(4096) char zeros[64 << 10];
{%- if way.is_direct() %}
    /* O_DIRECT writes whole blocks: what is too much is cut off. */
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
{%- if way.is_direct() %}
    if (end > size && ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
    return fsync(fd);
}
{%- endif %}
{%- if way.makes_huge_pages() %}

/* Memory in huge pages, where the kernel has some. Returns an error number. */
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
{%- if way.creates_name() && way.is_durable() %}

/* The file's name is durable when its directory is. */
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

{% if way.copies() -%}
int copy_file(const char *source, const char *path)
{%- else if way.streams() -%}
{%- if way.expects() -%}
/* `expected` bytes are got ready; the file ends where the data does. */
{% endif -%}
int write_stream(const char *path, producer *next, void *context{% if way.expects() %}, size_t expected{% endif %})
{%- else -%}
int write_file(const char *path, const void *data, size_t size)
{%- endif %}
{
{%- if way.copies() %}
    int input;
    do
        input = open(source, O_RDONLY{% if way.is_direct_on_both_sides() %} | O_DIRECT{% endif %} | O_CLOEXEC);
    while (input < 0 && errno == EINTR);
{%- if way.is_direct_on_both_sides() %}
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
{%- if way.atomic() %}
    /* Under another name until it is whole. */
    char *name;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (asprintf(&name, "%s.%ld.%ld.tmp", path, (long)getpid(), now.tv_nsec) < 0)
        return -1;
    struct stat old;
    const int replaces = stat(path, &old) == 0;
{%- endif %}
    int result = -1, fd = open_file({{ way.name_c() }}, {{ way.access_c() }}{% if way.atomic() %}, replaces ? old.st_mode & 0777 : 0666{% endif %});
    int error = errno;
    if (fd >= 0) {
        result = {% if way.atomic() %}replaces && keep_mode(fd, &old) != 0 ? -1 : {% endif %}fill({% if way.has_own_descriptors() %}{{ way.name_c() }}, {% endif %}fd, {{ way.what_c() }});
        error = errno;
        if (close(fd) != 0 && errno != EINTR && result == 0) {
            error = errno; /* a late error of the filesystem, such as NFS */
            result = -1;
        }
{%- if way.atomic() %}
        if (result == 0 && (result = rename(name, path)) != 0)
            error = errno;
{%- endif %}
{%- if way.creates_name() && way.is_durable() %}
        if (result == 0 && (result = sync_directory(path)) != 0)
            error = errno;
{%- endif %}
{%- if way.removes_on_error() %}
        if (result != 0)
            unlink({{ way.name_c() }});
{%- endif %}
    }
{%- if way.copies() %}
    close(input);
{%- endif %}
{%- if way.atomic() %}
    free(name);
{%- endif %}
    errno = error;
    return result;
}
{%- if way.main() %}
{% if way.streams() %}
{% include "c/main_stream.c" %}
{% else if !way.copies() %}
/* The content of a file, in memory that is good for O_DIRECT. */
static char *content_of(const char *path, size_t *size)
{
    struct stat status;
    void *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return NULL;
    *size = (size_t)status.st_size;
    if ((errno = {{ way.memalign_c("&data", "2 << 20") }}, *size > 0 ? *size : 1)) != 0)
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
{%- if way.streams() %}
    struct stat status;
    int source = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (source < 0 || fstat(source, &status) != 0) {
        perror(argv[1]);
        return 1;
    }
{%- else if !way.copies() %}
    size_t size;
    char *data = content_of(argv[1], &size);
    if (data == NULL) {
        perror(argv[1]);
        return 1;
    }
{%- endif %}
    int64_t start = now_ns();
    if ({{ way.main_call_c() }} != 0) {
        perror(argv[2]);
        return 1;
    }
    /* For `writebench run --command`: the time without starting the program and reading its source. */
    const char *phases = getenv("WRITEBENCH_PHASES_FD");
    if (phases != NULL)
        dprintf(atoi(phases), "write %lld\n", (long long)(now_ns() - start));
    return 0;
}
{%- endif %}
