/* Copies a file: read(2) into a buffer, write(2) from it. */
#include "parity.h"

static void write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("write");
        }
        bytes += written;
        length -= (size_t)written;
    }
}

static void copy_all(int from, int to, char *buffer, size_t chunk_bytes)
{
    for (;;) {
        ssize_t got = read(from, buffer, chunk_bytes);
        if (got == 0)
            return;
        if (got < 0) {
            if (errno == EINTR)
                continue;
            die("read");
        }
        write_all(to, buffer, (size_t)got);
    }
}

int main(int argc, char **argv)
{
    usage(argc, 4, 4, "DIRECTORY SIZE CHUNK");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    char *buffer = map_memory(chunk_bytes);
    memset(buffer, 1, chunk_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        die("open");
    int from = open(copied, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        die("open of the source");
    clock_lap(&phases.open_ns);
    copy_all(from, to, buffer, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (close(from) != 0 || close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
