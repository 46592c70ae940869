/* Copies a file: ioctl(FICLONERANGE) once; the files share their blocks. */
#include "parity.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

static void clone_all(int from, int to, uint64_t size_bytes)
{
    struct file_clone_range range = {.src_fd = from, .src_length = size_bytes};
    while (ioctl(to, FICLONERANGE, &range) != 0) {
        if (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOTTY || errno == EXDEV)
            refuse("FICLONERANGE");
        if (errno != EINTR)
            die("FICLONERANGE");
    }
}

int main(int argc, char **argv)
{
    usage(argc, 3, 3, "DIRECTORY SIZE");
    uint64_t size_bytes = number(argv[2]);
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
    clone_all(from, to, size_bytes);
    clock_lap(&phases.write_ns);
    if (close(from) != 0 || close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
