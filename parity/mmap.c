/* memcpy into a shared mapping of a new, sparse file. */
#include "parity.h"

#include "mapping.h"

static void copy_all(char *map, const char *source, size_t size_bytes, size_t chunk_bytes)
{
    for (size_t at = 0; at < size_bytes;) {
        size_t rest = size_bytes - at;
        size_t length = rest < chunk_bytes ? rest : chunk_bytes;
        memcpy(map + at, source + at, length);
        at += length;
    }
}

int main(int argc, char **argv)
{
    usage(argc, 4, 4, "DIRECTORY SIZE CHUNK");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    set_length(file, size_bytes);
    clock_lap(&phases.prepare_ns);
    char *map = map_shared(file, size_bytes, PROT_READ | PROT_WRITE);
    clock_lap(&phases.open_ns); /* a mapping attaches to the file, as open does */
    copy_all(map, source, size_bytes, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (munmap(map, size_bytes) != 0)
        die("munmap");
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
