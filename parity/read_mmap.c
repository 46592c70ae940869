/* Copies a file: read(2) into a shared mapping of a new, sparse file. */
#include "parity.h"

#include "mapping.h"

static void copy_all(int from, char *map, uint64_t size_bytes, uint64_t chunk_bytes, const struct pages *pages)
{
    for (uint64_t at = 0; at < size_bytes;) {
        uint64_t window_end = prepare_window(map, at, size_bytes, pages);
        while (at < window_end) {
            uint64_t rest = window_end - at;
            ssize_t got = read(from, map + at, rest < chunk_bytes ? rest : chunk_bytes);
            if (got == 0)
                die_of("the source is too short", EILSEQ);
            if (got < 0) {
                if (errno == EINTR)
                    continue;
                die("read");
            }
            at += (uint64_t)got;
        }
    }
}

int main(int argc, char **argv)
{
    usage(argc, 7, 7, "DIRECTORY SIZE CHUNK none|window|all small|advise|collapse WINDOW");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    struct pages pages = pages_of(argv[4], argv[5], size_bytes, number(argv[6]));
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    int to = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        die("open");
    clock_lap(&phases.open_ns);
    set_length(to, size_bytes);
    clock_lap(&phases.prepare_ns);
    int from = open(copied, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        die("open of the source");
    char *map = map_to_write(to, size_bytes, &pages);
    clock_lap(&phases.open_ns);
    copy_all(from, map, size_bytes, chunk_bytes, &pages);
    clock_lap(&phases.write_ns);
    if (close(from) != 0 || munmap(map, size_bytes) != 0 || close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
