/* writev(2): a vector of chunks in each call, to a new file. */
#include "parity.h"

#include <sys/uio.h>

enum { VECTOR_MAX = 1024 };

/* The next chunks, as many as a call may take; returns how many there are. */
static int gather(struct iovec *vector, int vector_max, const char *next, const char *end, size_t chunk_bytes)
{
    int count = 0;
    while (count < vector_max && next < end) {
        size_t rest = (size_t)(end - next);
        size_t length = rest < chunk_bytes ? rest : chunk_bytes;
        vector[count++] = (struct iovec){.iov_base = (void *)next, .iov_len = length};
        next += length;
    }
    return count;
}

static void write_all(int file, const char *source, size_t size_bytes, size_t chunk_bytes, int vector_max)
{
    struct iovec vector[VECTOR_MAX];
    const char *next = source, *end = source + size_bytes;
    while (next < end) {
        int count = gather(vector, vector_max, next, end, chunk_bytes);
        ssize_t written = writev(file, vector, count);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("writev");
        }
        next += written;
    }
}

int main(int argc, char **argv)
{
    usage(argc, 5, 5, "DIRECTORY SIZE CHUNK VECTOR");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]), vector_max = number(argv[4]);
    if (vector_max > VECTOR_MAX)
        die_of(argv[4], EINVAL);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    write_all(file, source, size_bytes, chunk_bytes, (int)vector_max);
    clock_lap(&phases.write_ns);
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
