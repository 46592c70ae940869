/* Copies a file: read(2) into a buffer, write(2) from it; by several threads, each with its own descriptors. */
#include "parity.h"

#include "threads.h"

struct part {
    int from, to;
    char *buffer;
    uint64_t begin, end, chunk_bytes;
};

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

static void copy_part(void *argument)
{
    const struct part *part = argument;
    for (uint64_t at = part->begin; at < part->end;) {
        uint64_t rest = part->end - at;
        ssize_t got = read(part->from, part->buffer, rest < part->chunk_bytes ? rest : part->chunk_bytes);
        if (got == 0)
            die_of("the source is too short", EILSEQ);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            die("read");
        }
        write_all(part->to, part->buffer, (size_t)got);
        at += (uint64_t)got;
    }
}

static int open_at(const char *path, int flags, uint64_t position)
{
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    if (position > 0 && lseek(file, (off_t)position, SEEK_SET) < 0)
        die("lseek");
    return file;
}

int main(int argc, char **argv)
{
    usage(argc, 4, 5, "DIRECTORY SIZE CHUNK [THREADS]");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    unsigned threads = argc > 4 ? thread_count(argv[4], size_bytes, chunk_bytes) : 1;
    static struct part parts[FILES_MAX];
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    for (unsigned i = 0; i < threads; i++) {
        parts[i] = (struct part){.buffer = map_memory(chunk_bytes), .chunk_bytes = chunk_bytes,
                                 .begin = border(i, threads, size_bytes, chunk_bytes),
                                 .end = border(i + 1, threads, size_bytes, chunk_bytes)};
        memset(parts[i].buffer, 1, chunk_bytes);
    }
    struct phases phases = {0};
    start_threads(copy_part, parts, sizeof parts[0], threads);
    settle_copying(size_bytes);

    clock_start();
    for (unsigned i = 0; i < threads; i++) {
        parts[i].to = open_at(path, O_WRONLY | (i == 0 ? O_CREAT | O_EXCL : 0), parts[i].begin);
        parts[i].from = open_at(copied, O_RDONLY, parts[i].begin);
    }
    clock_lap(&phases.open_ns);
    work_together();
    clock_lap(&phases.write_ns);
    for (unsigned i = 0; i < threads; i++)
        if (close(parts[i].from) != 0 || close(parts[i].to) != 0)
            die("close");
    clock_lap(&phases.close_ns);
    join_threads();
    return finish(&phases);
}
