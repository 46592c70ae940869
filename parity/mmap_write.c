/* Copies a file: mmap(2) of all of it, write(2) from the mapping, whose pages can be made present by window. */
#include "parity.h"

#include "mapping.h"

static void write_all(int file, char *map, size_t size_bytes, size_t chunk_bytes, const struct pages *pages)
{
    char *next = map, *end = map + size_bytes, *present = pages->populates ? map : end;
    while (next < end) {
        if (next >= present) {
            size_t rest = (size_t)(end - next);
            size_t window = rest < pages->window_bytes ? rest : pages->window_bytes;
            advise(next, window, MADV_POPULATE_READ, "MADV_POPULATE_READ");
            present = next + window;
        }
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
    usage(argc, 4, 7, "DIRECTORY SIZE CHUNK [buffered|direct] [none|window|all] [WINDOW]");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    int direct = argc > 4 && strcmp(argv[4], "direct") == 0 ? O_DIRECT : 0;
    uint64_t window_bytes = argc > 6 ? number(argv[6]) : size_bytes;
    struct pages pages = pages_of(argc > 5 ? argv[5] : "none", "small", size_bytes, window_bytes);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | direct, 0600);
    if (to < 0)
        die("open");
    int from = open(copied, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        die("open of the source");
    char *map = map_shared(from, size_bytes, PROT_READ);
    if (close(from) != 0) /* the mapping keeps the file */
        die("close of the source");
    clock_lap(&phases.open_ns);
    write_all(to, map, size_bytes, chunk_bytes, &pages);
    clock_lap(&phases.write_ns);
    if (munmap(map, size_bytes) != 0)
        die("munmap");
    if (close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
