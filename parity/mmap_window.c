/* memcpy, or stores past the caches, into a shared mapping of a new, sparse file whose pages are prepared a
 * window at a time, by one thread or by several. */
#include "parity.h"

#include "mapping.h"
#include "streaming.h"
#include "threads.h"

struct part {
    char *map;
    const char *source;
    uint64_t begin, end, chunk_bytes;
    const struct pages *pages;
    copy *copy;
};

static void write_part(void *argument)
{
    const struct part *part = argument;
    for (uint64_t at = part->begin; at < part->end;) {
        uint64_t window_end = prepare_window(part->map, at, part->end, part->pages);
        while (at < window_end) {
            uint64_t rest = window_end - at;
            size_t length = rest < part->chunk_bytes ? rest : part->chunk_bytes;
            part->copy(part->map + at, part->source + at, length);
            at += length;
        }
    }
}

int main(int argc, char **argv)
{
    usage(argc, 9, 9, "DIRECTORY SIZE CHUNK THREADS none|window|all small|advise|collapse "
                      "plain|nontemporal WINDOW");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]), window_bytes = number(argv[8]);
    unsigned threads = thread_count(argv[4], size_bytes, window_bytes);
    struct pages pages = pages_of(argv[5], argv[6], size_bytes, window_bytes);
    copy *copy = copy_of(argv[7]);
    static struct part parts[FILES_MAX];
    make_directory(argv[1]);
    const char *source = make_source(size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    start_threads(write_part, parts, sizeof parts[0], threads);
    settle(source, size_bytes);

    clock_start();
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    set_length(file, size_bytes);
    clock_lap(&phases.prepare_ns);
    char *map = map_to_write(file, size_bytes, &pages);
    for (unsigned i = 0; i < threads; i++)
        parts[i] = (struct part){.map = map, .source = source, .chunk_bytes = chunk_bytes, .pages = &pages,
                                 .copy = copy, .begin = border(i, threads, size_bytes, window_bytes),
                                 .end = border(i + 1, threads, size_bytes, window_bytes)};
    clock_lap(&phases.open_ns); /* a mapping attaches to the file, as open does */
    work_together();
    clock_lap(&phases.write_ns);
    if (munmap(map, size_bytes) != 0)
        die("munmap");
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    join_threads();
    return finish(&phases);
}
