/* write(2) in chunks to a new file, with write-back of each window started as soon as it is written, and waited
 * for one window later; what is written out can be dropped from the page cache. */
#include "parity.h"

struct behind {
    uint64_t window_bytes, started, ended;
    int drops;
};

static void write_back(int file, uint64_t from, uint64_t to, unsigned flags)
{
    while (sync_file_range(file, (off_t)from, (off_t)(to - from), flags) != 0)
        if (errno != EINTR)
            die("sync_file_range");
}

static void advance(int file, struct behind *behind, uint64_t bytes)
{
    write_back(file, behind->started, bytes, SYNC_FILE_RANGE_WRITE);
    if (behind->ended < behind->started) {
        write_back(file, behind->ended, behind->started,
                   SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        off_t length = (off_t)(behind->started - behind->ended);
        int error = behind->drops ? posix_fadvise(file, (off_t)behind->ended, length, POSIX_FADV_DONTNEED) : 0;
        if (error != 0)
            die_of("posix_fadvise", error);
    }
    behind->ended = behind->started;
    behind->started = bytes;
}

static void write_all(int file, const char *source, size_t size_bytes, size_t chunk_bytes, struct behind *behind)
{
    const char *next = source, *end = source + size_bytes;
    while (next < end) {
        size_t rest = (size_t)(end - next);
        ssize_t written = write(file, next, rest < chunk_bytes ? rest : chunk_bytes);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("write");
        }
        next += written;
        if ((uint64_t)(next - source) - behind->started >= behind->window_bytes)
            advance(file, behind, (uint64_t)(next - source));
    }
}

int main(int argc, char **argv)
{
    usage(argc, 6, 6, "DIRECTORY SIZE CHUNK WINDOW keep|drop");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    struct behind behind = {.window_bytes = number(argv[4]), .drops = strcmp(argv[5], "drop") == 0};
    make_directory(argv[1]);
    const char *source = make_source(size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    write_all(file, source, size_bytes, chunk_bytes, &behind);
    clock_lap(&phases.write_ns);
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
