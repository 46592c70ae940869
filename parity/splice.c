/* Copies a file: splice(2) into a pipe that holds a chunk, and out of it. */
#include "parity.h"

enum { PIPE_MAX_BYTES = 1 << 20 }; /* what an ordinary user may have: pipe(7) */

static const unsigned how = SPLICE_F_MOVE | SPLICE_F_MORE;

static void empty_pipe(int pipe_from, int to, size_t filled)
{
    while (filled > 0) {
        ssize_t moved = splice(pipe_from, NULL, to, NULL, filled, how);
        if (moved < 0) {
            if (errno == EINTR)
                continue;
            die("splice out of the pipe");
        }
        filled -= (size_t)moved;
    }
}

static void copy_all(int from, int to, const int *pipe_ends, size_t chunk_bytes)
{
    for (;;) {
        ssize_t filled = splice(from, NULL, pipe_ends[1], NULL, chunk_bytes, how);
        if (filled == 0)
            return;
        if (filled < 0) {
            if (errno == EINTR)
                continue;
            die("splice into the pipe");
        }
        empty_pipe(pipe_ends[0], to, (size_t)filled);
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
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        die("pipe2");
    if (fcntl(pipe_ends[1], F_SETPIPE_SZ, chunk_bytes < PIPE_MAX_BYTES ? (int)chunk_bytes : PIPE_MAX_BYTES) < 0)
        die("F_SETPIPE_SZ");
    clock_lap(&phases.open_ns);
    copy_all(from, to, pipe_ends, chunk_bytes);
    clock_lap(&phases.write_ns);
    if (close(from) != 0 || close(pipe_ends[0]) != 0 || close(pipe_ends[1]) != 0 || close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
