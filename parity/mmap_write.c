/* Copies a file: mmap(2) of all of it, write(2) from the mapping. */
#include "parity.h"

static void write_all(int file, const char *map, size_t size_bytes, size_t chunk_bytes)
{
    const char *next = map, *end = map + size_bytes;
    while (next < end) {
        size_t rest = (size_t)(end - next);
        ssize_t written = write(file, next, rest < chunk_bytes ? rest : chunk_bytes);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("write");
        }
        next += written;
    }
}

int main(int argc, char **argv)
{
    usage(argc, 4, 4, "DIRECTORY SIZE CHUNK");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        die("open");
    int from = open(copied, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        die("open of the source");
    char *map = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, from, 0);
    if (map == MAP_FAILED)
        die("mmap");
    if (close(from) != 0) /* the mapping keeps the file */
        die("close of the source");
    clock_lap(&phases.open_ns);
    write_all(to, map, size_bytes, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (munmap(map, size_bytes) != 0)
        die("munmap");
    if (close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
