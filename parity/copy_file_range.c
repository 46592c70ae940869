/* Copies a file: copy_file_range(2); the filesystem may share the blocks. */
#include "parity.h"

static void copy_all(int from, int to, size_t chunk_bytes)
{
    for (;;) {
        ssize_t copied = copy_file_range(from, NULL, to, NULL, chunk_bytes, 0);
        if (copied == 0)
            return;
        if (copied < 0 && errno != EINTR)
            die("copy_file_range");
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
    clock_lap(&phases.open_ns);
    copy_all(from, to, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (close(from) != 0 || close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
