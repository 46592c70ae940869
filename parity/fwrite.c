/* fwrite(3) in chunks through the C library's own buffer, to a new file. */
#include "parity.h"

static void write_all(FILE *file, const char *source, size_t size_bytes, size_t chunk_bytes)
{
    const char *next = source, *end = source + size_bytes;
    while (next < end) {
        size_t rest = (size_t)(end - next);
        size_t length = rest < chunk_bytes ? rest : chunk_bytes;
        size_t written = fwrite(next, 1, length, file);
        next += written;
        if (written < length) {
            if (errno != EINTR)
                die("fwrite");
            clearerr(file);
        }
    }
    while (fflush(file) != 0)
        if (errno != EINTR)
            die("fflush");
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
    FILE *file = fopen(path, "wxe"); /* x: O_EXCL, e: O_CLOEXEC */
    if (file == NULL)
        die("fopen");
    clock_lap(&phases.open_ns);
    write_all(file, source, size_bytes, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (fclose(file) != 0)
        die("fclose");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
