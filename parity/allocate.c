/* One call that gives a new file its length and blocks; no data is handed over. */
#include "parity.h"

static void allocate(int file, const char *call, uint64_t size_bytes)
{
    int error;
    do {
        if (strcmp(call, "fallocate") == 0)
            error = fallocate(file, 0, 0, (off_t)size_bytes) == 0 ? 0 : errno;
        else if (strcmp(call, "ftruncate") == 0)
            error = ftruncate(file, (off_t)size_bytes) == 0 ? 0 : errno;
        else if (strcmp(call, "posix-fallocate") == 0)
            error = posix_fallocate(file, 0, (off_t)size_bytes); /* returns the error, sets no errno */
        else
            error = EINVAL;
    } while (error == EINTR);
    if (error != 0)
        die_of(call, error);
}

int main(int argc, char **argv)
{
    usage(argc, 4, 4, "DIRECTORY posix-fallocate|fallocate|ftruncate SIZE");
    const char *call = argv[2];
    uint64_t size_bytes = number(argv[3]);
    make_directory(argv[1]);
    const char *path = new_path(NULL, size_bytes);
    struct phases phases = {0};
    settle(NULL, size_bytes);

    clock_start();
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    allocate(file, call, size_bytes);
    clock_lap(&phases.prepare_ns);
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
