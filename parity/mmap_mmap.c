/* Copies a file: memcpy, or stores past the caches, from a mapping of it into one of a new, sparse file. */
#include "parity.h"

#include "mapping.h"
#include "streaming.h"

static void copy_all(char *from, char *to, uint64_t size_bytes, uint64_t chunk_bytes, const struct pages *pages,
                     copy *copy)
{
    for (uint64_t at = 0; at < size_bytes;) {
        uint64_t window_end = prepare_window(to, at, size_bytes, pages);
        if (pages->populates)
            advise(from + at, window_end - at, MADV_POPULATE_READ, "MADV_POPULATE_READ");
        while (at < window_end) {
            uint64_t rest = window_end - at;
            size_t length = rest < chunk_bytes ? rest : chunk_bytes;
            copy(to + at, from + at, length);
            at += length;
        }
    }
}

int main(int argc, char **argv)
{
    usage(argc, 8, 8, "DIRECTORY SIZE CHUNK none|window|all small|advise|collapse plain|nontemporal WINDOW");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    struct pages pages = pages_of(argv[4], argv[5], size_bytes, number(argv[7]));
    copy *copy = copy_of(argv[6]);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    set_length(file, size_bytes);
    clock_lap(&phases.prepare_ns);
    int source_file = open(copied, O_RDONLY | O_CLOEXEC);
    if (source_file < 0)
        die("open of the source");
    char *from = map_shared(source_file, size_bytes, PROT_READ);
    if (close(source_file) != 0) /* the mapping keeps the file */
        die("close of the source");
    char *to = map_to_write(file, size_bytes, &pages);
    clock_lap(&phases.open_ns);
    copy_all(from, to, size_bytes, chunk_bytes, &pages, copy);
    clock_lap(&phases.write_ns);
    if (munmap(from, size_bytes) != 0 || munmap(to, size_bytes) != 0 || close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
