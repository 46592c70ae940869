/* io_uring: writes at an offset, several under way; to each a sync can be linked. */
#include "parity.h"

#include <liburing.h>

enum { DEPTH_MAX = 1024, SYNC = 1 };

struct chunk {
    uint64_t at;
    uint32_t left;
};

struct queue {
    struct io_uring ring;
    int file, links;
    unsigned depth, free_count;
    unsigned free[DEPTH_MAX];
    struct chunk chunks[DEPTH_MAX];
    const char *source;
};

/* The ring has two entries for each chunk, so there is always one free. */
static void push(struct queue *queue, unsigned slot)
{
    const struct chunk *chunk = &queue->chunks[slot];
    struct io_uring_sqe *write = io_uring_get_sqe(&queue->ring);
    io_uring_prep_write(write, queue->file, queue->source + chunk->at, chunk->left, chunk->at);
    io_uring_sqe_set_data64(write, slot * 2);
    if (queue->links) {
        io_uring_sqe_set_flags(write, IOSQE_IO_LINK);
        struct io_uring_sqe *sync = io_uring_get_sqe(&queue->ring);
        io_uring_prep_fsync(sync, queue->file, 0);
        io_uring_sqe_set_data64(sync, slot * 2 + SYNC);
    }
}

static void written(struct chunk *chunk, int result)
{
    if (result == -EINTR || result == -EAGAIN)
        return; /* what is left is queued again */
    if (result < 0)
        die_of("write", -result);
    chunk->at += (uint32_t)result;
    chunk->left -= (uint32_t)result;
}

static void completed(struct queue *queue, const struct io_uring_cqe *cqe)
{
    unsigned slot = (unsigned)(cqe->user_data / 2);
    struct chunk *chunk = &queue->chunks[slot];
    if (cqe->user_data & SYNC) {
        if (cqe->res < 0 && !(cqe->res == -ECANCELED && chunk->left > 0))
            die_of("fsync", -cqe->res);
    } else {
        written(chunk, cqe->res);
        if (queue->links)
            return; /* the sync ends it, even where a short write canceled that */
    }
    if (chunk->left > 0)
        push(queue, slot);
    else
        queue->free[queue->free_count++] = slot;
}

static void wait_for_one(struct queue *queue)
{
    int result;
    do {
        result = io_uring_submit_and_wait(&queue->ring, 1);
    } while (result == -EINTR);
    if (result < 0)
        die_of("io_uring_enter", -result);
    unsigned head, count = 0;
    struct io_uring_cqe *cqe;
    io_uring_for_each_cqe(&queue->ring, head, cqe) {
        completed(queue, cqe);
        count++;
    }
    io_uring_cq_advance(&queue->ring, count);
}

static void write_all(struct queue *queue, uint64_t size_bytes, uint32_t chunk_bytes)
{
    uint64_t next = 0;
    while (next < size_bytes || queue->free_count < queue->depth) {
        while (next < size_bytes && queue->free_count > 0) {
            unsigned slot = queue->free[--queue->free_count];
            uint64_t rest = size_bytes - next;
            uint32_t length = rest < chunk_bytes ? (uint32_t)rest : chunk_bytes;
            queue->chunks[slot] = (struct chunk){.at = next, .left = length};
            push(queue, slot);
            next += length;
        }
        wait_for_one(queue);
    }
}

int main(int argc, char **argv)
{
    usage(argc, 8, 8, "DIRECTORY SIZE CHUNK DEPTH buffered|direct create|overwrite none|fsync");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]), depth = number(argv[4]);
    int direct = strcmp(argv[5], "direct") == 0, overwrite = strcmp(argv[6], "overwrite") == 0;
    if (depth > DEPTH_MAX || chunk_bytes > UINT32_MAX)
        die_of("too deep or too large", EINVAL);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *path = new_path(source, size_bytes);
    if (overwrite)
        make_old_content(path, source, size_bytes);
    static struct queue queue;
    queue.depth = (unsigned)depth;
    queue.links = strcmp(argv[7], "fsync") == 0;
    queue.source = source;
    for (unsigned i = 0; i < queue.depth; i++)
        queue.free[queue.free_count++] = queue.depth - 1 - i;
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int flags = O_WRONLY | O_CLOEXEC | (direct ? O_DIRECT : 0) | (overwrite ? 0 : O_CREAT | O_EXCL);
    queue.file = open(path, flags, 0600);
    if (queue.file < 0)
        die("open");
    int error = io_uring_queue_init(queue.depth * 2, &queue.ring, 0);
    if (error < 0)
        die_of("io_uring_queue_init", -error);
    clock_lap(&phases.open_ns);
    write_all(&queue, size_bytes, (uint32_t)chunk_bytes);
    clock_lap(&phases.write_ns);
    io_uring_queue_exit(&queue.ring);
    if (close(queue.file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
