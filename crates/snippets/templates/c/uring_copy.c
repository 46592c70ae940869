{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block helpers %}

// A chunk in flight: it is read, then written.
struct chunk {
    char *buffer;
    size_t at, length, read, written;
};

struct queue {
    struct io_uring ring;
    int fds[2]; // the source and the copy
    unsigned in_flight; // entries that have no completion yet
{%- if case.registers_buffers() %}
    int is_registered; // the memory
{%- endif %}
    unsigned free_count, free[DEPTH];
    struct chunk chunks[DEPTH];
};

enum {
    READ,
    WRITE,
};

// The ring has two entries for each chunk, so there is always one free.
static void push(struct queue *queue, unsigned slot, int which, unsigned flags)
{
    const struct chunk *chunk = &queue->chunks[slot];
    struct io_uring_sqe *entry = io_uring_get_sqe(&queue->ring);
    size_t done = which == READ ? chunk->read : chunk->written;
    unsigned length = (unsigned)(chunk->length - done);
    queue->in_flight++;
    int fd = {% if case.registers_files() %}which{% else %}queue->fds[which]{% endif %};
{%- if case.registers_buffers() %}
    if (queue->is_registered && which == READ)
        io_uring_prep_read_fixed(entry, fd, chunk->buffer + done, length, chunk->at + done, 0);
    else if (queue->is_registered)
        io_uring_prep_write_fixed(entry, fd, chunk->buffer + done, length, chunk->at + done, 0);
    else if (which == READ)
{%- else %}
    if (which == READ)
{%- endif %}
        io_uring_prep_read(entry, fd, chunk->buffer + done, length, chunk->at + done);
    else
        io_uring_prep_write(entry, fd, chunk->buffer + done, length, chunk->at + done);
    io_uring_sqe_set_data64(entry, slot * 2 + (unsigned)which);
    io_uring_sqe_set_flags(entry, flags{% if case.registers_files() %} | IOSQE_FIXED_FILE{% endif %});
}

// The write begins when the read has ended.
static void push_both(struct queue *queue, unsigned slot)
{
    push(queue, slot, READ, IOSQE_IO_LINK);
    push(queue, slot, WRITE, 0);
}

// Takes a completion. Returns an error number.
static int completed(struct queue *queue, unsigned long long user_data, int result)
{
    unsigned slot = (unsigned)(user_data / 2);
    struct chunk *chunk = &queue->chunks[slot];
    int again = result == -EINTR || result == -EAGAIN || result == -ECANCELED;
    if (result <= 0 && !again)
        return result < 0 ? -result : EIO; // 0: the source has become shorter
    if (user_data % 2 == READ) {
        chunk->read += again ? 0 : (size_t)result;
        return 0; // the write continues, even if a short read has canceled it
    }
    if (chunk->read < chunk->length) {
        push_both(queue, slot);
        return 0;
    }
    chunk->written += again ? 0 : (size_t)result;
    if (chunk->written < chunk->length)
        push(queue, slot, WRITE, 0);
    else
        queue->free[queue->free_count++] = slot;
    return 0;
}

{% include "c/uring_wait.c" %}

{%- include "c_family/copy_plainly.c" %}

// Copies the bytes between two offsets.
static int copy_range(int fd, int input, size_t from, size_t until)
{
    const size_t size = until - from;
{%- if case.chunk().is_none() %}
    const size_t {{ case.ring_chunk_c() }} = size < INT_MAX / 4096 * 4096 ? (size + 4095) / 4096 * 4096 : INT_MAX / 4096 * 4096;
{%- endif %}
    if (size == 0)
        return 0;
    struct queue queue = {.fds = {input, fd}};
    int error = io_uring_queue_init(DEPTH * 2, &queue.ring, 0);
    if (error == -ENOSYS || error == -EPERM || error == -ENOMEM)
        return copy_plainly(fd, input, from, until);
    if (error < 0) {
        errno = -error;
        return -1;
    }
    char *memory = NULL;
    error = posix_memalign((void **)&memory, 4096, DEPTH * {{ case.ring_chunk_c() }});
    for (unsigned i = 0; i < DEPTH; i++) {
        queue.free[queue.free_count++] = DEPTH - 1 - i;
        queue.chunks[i].buffer = memory + i * {{ case.ring_chunk_c() }};
    }
{%- if case.registers_buffers() %}
    // The kernel pins them once, not for each call, up to RLIMIT_MEMLOCK and 1 GiB.
    struct iovec all = {memory, DEPTH * {{ case.ring_chunk_c() }}};
    queue.is_registered = error == 0 && io_uring_register_buffers(&queue.ring, &all, 1) == 0;
{%- endif %}
{%- if case.registers_files() %}
    if (error == 0)
        error = -io_uring_register_files(&queue.ring, queue.fds, 2);
{%- endif %}
    size_t next = 0;
    while (error == 0 && (next < size || queue.free_count < DEPTH)) {
        while (next < size && queue.free_count > 0) {
            unsigned slot = queue.free[--queue.free_count];
            struct chunk *chunk = &queue.chunks[slot];
            size_t length = size - next < {{ case.ring_chunk_c() }} ? size - next : {{ case.ring_chunk_c() }};
{%- if case.is_direct() %}
            // With O_DIRECT lengths are whole blocks: the end of the file is copied through the page cache.
            if (length % BLOCK != 0 && length > BLOCK)
                length = length / BLOCK * BLOCK;
            else if (length % BLOCK != 0) {
                if (end_direct(fd) != 0 || end_direct(input) != 0)
                    error = errno;
            }
{%- endif %}
            *chunk = (struct chunk){.buffer = chunk->buffer, .at = from + next, .length = length};
            push_both(&queue, slot);
            next += length;
        }
        if (error == 0)
            error = wait_for_one(&queue);
    }
    if (error != 0)
        drain(&queue);
    io_uring_queue_exit(&queue.ring);
    free(memory);
    errno = error;
    return error == 0 ? 0 : -1;
}
{%- include "c/copy_part.c" %}
{% endblock %}
{% block fill %}
{%- include "c/copy_fill.c" %}
{% endblock %}
