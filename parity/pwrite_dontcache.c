/* pwritev2(2) in chunks with RWF_DONTCACHE: through the page cache, and out of it as soon as written out. */
#include "parity.h"

#include <sys/uio.h>

#ifndef RWF_DONTCACHE
enum { RWF_DONTCACHE = 0x80 }; /* include/uapi/linux/fs.h, since Linux 6.14 */
#endif

static void write_all(int file, const char *source, size_t size_bytes, size_t chunk_bytes)
{
    const char *next = source, *end = source + size_bytes;
    while (next < end) {
        size_t rest = (size_t)(end - next);
        struct iovec chunk = {.iov_base = (void *)next, .iov_len = rest < chunk_bytes ? rest : chunk_bytes};
        ssize_t written = pwritev2(file, &chunk, 1, next - source, RWF_DONTCACHE);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EOPNOTSUPP)
                refuse("RWF_DONTCACHE");
            die("pwritev2");
        }
        next += written;
    }
}

int main(int argc, char **argv)
{
    usage(argc, 4, 4, "DIRECTORY SIZE CHUNK");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    write_all(file, source, size_bytes, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
