/* Copies a file: read(2) in one thread and write(2) in another, with a ring of buffers between them. */
#include "parity.h"

#include <pthread.h>
#include <semaphore.h>

enum { DEPTH_MAX = 1024 };

struct ring {
    int from;
    unsigned depth;
    size_t chunk_bytes;
    char *buffers[DEPTH_MAX];
    size_t lengths[DEPTH_MAX]; /* 0 after the last */
    sem_t empty, filled;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        if (errno != EINTR)
            die("sem_wait");
}

static void *read_all(void *argument)
{
    struct ring *ring = argument;
    ssize_t got = 1;
    for (unsigned slot = 0; got > 0; slot = (slot + 1) % ring->depth) {
        wait_for(&ring->empty);
        do {
            got = read(ring->from, ring->buffers[slot], ring->chunk_bytes);
        } while (got < 0 && errno == EINTR);
        if (got < 0)
            die("read");
        ring->lengths[slot] = (size_t)got;
        sem_post(&ring->filled);
    }
    return NULL;
}

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

static void copy_all(struct ring *ring, int to)
{
    pthread_t reader;
    int error = pthread_create(&reader, NULL, read_all, ring);
    if (error != 0)
        die_of("pthread_create", error);
    for (unsigned slot = 0;; slot = (slot + 1) % ring->depth) {
        wait_for(&ring->filled);
        if (ring->lengths[slot] == 0)
            break;
        write_all(to, ring->buffers[slot], ring->lengths[slot]);
        sem_post(&ring->empty);
    }
    pthread_join(reader, NULL);
}

int main(int argc, char **argv)
{
    usage(argc, 5, 5, "DIRECTORY SIZE CHUNK DEPTH");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]), depth = number(argv[4]);
    static struct ring ring;
    ring.depth = (unsigned)depth, ring.chunk_bytes = chunk_bytes;
    if (depth > DEPTH_MAX || sem_init(&ring.empty, 0, ring.depth) != 0 || sem_init(&ring.filled, 0, 0) != 0)
        die_of("too deep", EINVAL);
    for (unsigned i = 0; i < ring.depth; i++) {
        ring.buffers[i] = map_memory(chunk_bytes);
        memset(ring.buffers[i], 1, chunk_bytes);
    }
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        die("open");
    ring.from = open(copied, O_RDONLY | O_CLOEXEC);
    if (ring.from < 0)
        die("open of the source");
    clock_lap(&phases.open_ns);
    copy_all(&ring, to);
    clock_lap(&phases.write_ns);
    if (close(ring.from) != 0 || close(to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
