/* pwrite(2) in chunks past the page cache, with O_DIRECT. */
#include "parity.h"

static void write_all(int file, const char *source, size_t size_bytes, size_t chunk_bytes)
{
    const char *next = source, *end = source + size_bytes;
    while (next < end) {
        size_t rest = (size_t)(end - next);
        ssize_t written = pwrite(file, next, rest < chunk_bytes ? rest : chunk_bytes, next - source);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("pwrite");
        }
        next += written;
    }
}

int main(int argc, char **argv)
{
    usage(argc, 5, 5, "DIRECTORY SIZE CHUNK create|overwrite");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    int overwrite = strcmp(argv[4], "overwrite") == 0;
    make_directory(argv[1]);
    const char *source = make_source(size_bytes); /* at a page, as O_DIRECT wants it */
    const char *path = new_path(source, size_bytes);
    if (overwrite)
        make_old_content(path, source, size_bytes);
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int file = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC | (overwrite ? 0 : O_CREAT | O_EXCL), 0600);
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
