/* pwrite(2) in chunks, by one thread or by several, into one new file or one for each thread. */
#include "parity.h"

#include "threads.h"

struct part {
    int file;
    const char *source;
    off_t file_offset;
    size_t size_bytes, chunk_bytes;
};

static void write_part(void *argument)
{
    const struct part *part = argument;
    const char *next = part->source, *end = part->source + part->size_bytes;
    while (next < end) {
        size_t rest = (size_t)(end - next);
        ssize_t written = pwrite(part->file, next, rest < part->chunk_bytes ? rest : part->chunk_bytes,
                                 part->file_offset + (next - part->source));
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("pwrite");
        }
        next += written;
    }
}

/* Contiguous ranges of whole chunks, one per thread. */
static void split(struct part *parts, unsigned threads, const char *source, uint64_t size_bytes,
                  uint64_t chunk_bytes, int own_file)
{
    for (unsigned i = 0; i < threads; i++) {
        uint64_t begin = border(i, threads, size_bytes, chunk_bytes);
        uint64_t end = border(i + 1, threads, size_bytes, chunk_bytes);
        parts[i] = (struct part){.source = source + begin, .size_bytes = end - begin,
                                 .file_offset = own_file ? 0 : (off_t)begin, .chunk_bytes = chunk_bytes};
    }
}

int main(int argc, char **argv)
{
    usage(argc, 4, 6, "DIRECTORY SIZE CHUNK [THREADS] [shared|per-thread]");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]);
    unsigned threads = argc > 4 ? thread_count(argv[4], size_bytes, chunk_bytes) : 1;
    int own_file = argc > 5 && strcmp(argv[5], "per-thread") == 0;
    static struct part parts[FILES_MAX];
    static int descriptors[FILES_MAX];
    const char *paths[FILES_MAX];
    unsigned opened = own_file ? threads : 1;
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    split(parts, threads, source, size_bytes, chunk_bytes, own_file);
    for (unsigned i = 0; i < opened; i++)
        paths[i] = new_path(parts[i].source, own_file ? parts[i].size_bytes : size_bytes);
    struct phases phases = {0};
    start_threads(write_part, parts, sizeof parts[0], threads);
    settle(source, size_bytes);

    clock_start();
    for (unsigned i = 0; i < opened; i++)
        if ((descriptors[i] = open(paths[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
            die("open");
    for (unsigned i = 0; i < threads; i++)
        parts[i].file = descriptors[own_file ? i : 0];
    clock_lap(&phases.open_ns);
    work_together();
    clock_lap(&phases.write_ns);
    for (unsigned i = 0; i < opened; i++)
        if (close(descriptors[i]) != 0)
            die("close");
    clock_lap(&phases.close_ns);
    join_threads();
    return finish(&phases);
}
