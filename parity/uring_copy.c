/* Copies a file by io_uring: for each chunk a read and, linked to it, a write; several are under way. */
#include "parity.h"

#include <liburing.h>

enum { DEPTH_MAX = 1024, READ = 0, WRITE = 1 };

struct chunk {
    char *buffer;
    uint64_t at;
    uint32_t length, read, written;
};

struct queue {
    struct io_uring ring;
    int from, to;
    unsigned depth, free_count;
    unsigned free[DEPTH_MAX];
    struct chunk chunks[DEPTH_MAX];
};

/* The ring has two entries for each chunk, so there is always one free. */
static void push_write(struct queue *queue, unsigned slot)
{
    const struct chunk *chunk = &queue->chunks[slot];
    struct io_uring_sqe *write = io_uring_get_sqe(&queue->ring);
    io_uring_prep_write(write, queue->to, chunk->buffer + chunk->written, chunk->length - chunk->written,
                        chunk->at + chunk->written);
    io_uring_sqe_set_data64(write, slot * 2 + WRITE);
}

static void push_both(struct queue *queue, unsigned slot)
{
    const struct chunk *chunk = &queue->chunks[slot];
    struct io_uring_sqe *read = io_uring_get_sqe(&queue->ring);
    io_uring_prep_read(read, queue->from, chunk->buffer + chunk->read, chunk->length - chunk->read,
                       chunk->at + chunk->read);
    io_uring_sqe_set_data64(read, slot * 2 + READ);
    io_uring_sqe_set_flags(read, IOSQE_IO_LINK);
    push_write(queue, slot);
}

static void completed(struct queue *queue, const struct io_uring_cqe *cqe)
{
    unsigned slot = (unsigned)(cqe->user_data / 2);
    struct chunk *chunk = &queue->chunks[slot];
    int again = cqe->res == -EINTR || cqe->res == -EAGAIN || cqe->res == -ECANCELED;
    if (cqe->res <= 0 && !again)
        die_of(cqe->user_data & WRITE ? "write" : "read", cqe->res < 0 ? -cqe->res : EILSEQ);
    if (!(cqe->user_data & WRITE)) {
        chunk->read += again ? 0 : (uint32_t)cqe->res;
        return; /* the write ends it, even where a short read canceled that */
    }
    if (chunk->read < chunk->length) {
        push_both(queue, slot);
        return;
    }
    chunk->written += again ? 0 : (uint32_t)cqe->res;
    if (chunk->written < chunk->length)
        push_write(queue, slot);
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

static void copy_all(struct queue *queue, uint64_t size_bytes, uint32_t chunk_bytes)
{
    uint64_t next = 0;
    while (next < size_bytes || queue->free_count < queue->depth) {
        while (next < size_bytes && queue->free_count > 0) {
            unsigned slot = queue->free[--queue->free_count];
            struct chunk *chunk = &queue->chunks[slot];
            uint64_t rest = size_bytes - next;
            uint32_t length = rest < chunk_bytes ? (uint32_t)rest : chunk_bytes;
            *chunk = (struct chunk){.buffer = chunk->buffer, .at = next, .length = length};
            push_both(queue, slot);
            next += length;
        }
        wait_for_one(queue);
    }
}

int main(int argc, char **argv)
{
    usage(argc, 6, 6, "DIRECTORY SIZE CHUNK DEPTH buffered|direct");
    uint64_t size_bytes = number(argv[2]), chunk_bytes = number(argv[3]), depth = number(argv[4]);
    int direct = strcmp(argv[5], "direct") == 0 ? O_DIRECT : 0;
    if (depth > DEPTH_MAX || chunk_bytes > UINT32_MAX)
        die_of("too deep or too large", EINVAL);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *copied = make_copied(source, size_bytes), *path = new_path(source, size_bytes);
    static struct queue queue;
    queue.depth = (unsigned)depth;
    for (unsigned i = 0; i < queue.depth; i++) {
        queue.free[queue.free_count++] = queue.depth - 1 - i;
        queue.chunks[i].buffer = map_memory(chunk_bytes); /* at a page, as O_DIRECT wants it */
        memset(queue.chunks[i].buffer, 1, chunk_bytes);
    }
    struct phases phases = {0};
    settle_copying(size_bytes);

    clock_start();
    queue.to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | direct, 0600);
    if (queue.to < 0)
        die("open");
    queue.from = open(copied, O_RDONLY | O_CLOEXEC | direct);
    if (queue.from < 0)
        die("open of the source");
    int error = io_uring_queue_init(queue.depth * 2, &queue.ring, 0);
    if (error < 0)
        die_of("io_uring_queue_init", -error);
    clock_lap(&phases.open_ns);
    copy_all(&queue, size_bytes, (uint32_t)chunk_bytes);
    clock_lap(&phases.write_ns);
    io_uring_queue_exit(&queue.ring);
    if (close(queue.from) != 0 || close(queue.to) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
