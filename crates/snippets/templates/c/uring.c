{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block helpers %}

{%- if case.sync_after_several().is_some() %}
static const unsigned long long SYNC = UINT64_MAX; // the completion of a sync
{%- endif %}

// A chunk in flight.
struct chunk {
    size_t at, left;
};

struct queue {
    struct io_uring ring;
    const char *data;
    off_t offset;
    int fd;
{%- if case.has_flags() %}
    int flags;
{%- endif %}
{%- if case.registers_buffers() %}
    int is_registered; // the memory
{%- endif %}
    unsigned in_flight; // entries that have no completion yet
{%- if case.has_ring() %}
    int is_open;
{%- endif %}
    unsigned free_count, free[DEPTH];
    struct chunk chunks[DEPTH];
{%- if case.is_direct() && !case.has_ring() %}
    char *buffer; // a chunk for each write, where the data is not aligned
{%- if case.chunk().is_none() %}
    size_t most; // bytes of a chunk
{%- endif %}
{%- endif %}
{%- if case.sync_after_several().is_some() %}
    unsigned queued; // chunks since the last sync
{%- endif %}
};

// The ring has two entries for each chunk, so there is always one free.
static void push(struct queue *queue, unsigned slot)
{
    const struct chunk *chunk = &queue->chunks[slot];
    struct io_uring_sqe *write = io_uring_get_sqe(&queue->ring);
    const char *from = queue->data + {% if case.has_ring() %}slot * CHUNK + CHUNK - chunk->left{% else %}chunk->at{% endif %};
    queue->in_flight++;
{%- if case.is_direct() && !case.has_ring() %}
    if (queue->buffer != NULL)
        from = memcpy(queue->buffer + slot * {% if case.chunk().is_some() %}CHUNK{% else %}queue->most{% endif %}, from, chunk->left);
{%- endif %}
    int fd = {% if case.registers_files() %}0{% else %}queue->fd{% endif %};
{%- if case.registers_buffers() %}
    if (queue->is_registered)
        io_uring_prep_write_fixed(write, fd, from, (unsigned)chunk->left, (__u64)queue->offset + chunk->at, 0);
    else
        io_uring_prep_write(write, fd, from, (unsigned)chunk->left, (__u64)queue->offset + chunk->at);
{%- else %}
    io_uring_prep_write(write, fd, from, (unsigned)chunk->left, (__u64)queue->offset + chunk->at);
{%- endif %}
{%- if case.has_flags() %}
    write->rw_flags = queue->flags;
{%- endif %}
    io_uring_sqe_set_data64(write, slot * 2);
{%- if case.registers_files() %}
    io_uring_sqe_set_flags(write, IOSQE_FIXED_FILE);
{%- endif %}
{%- if case.sync_every() == Some(1) %}
    // The sync begins when the write has ended.
    io_uring_sqe_set_flags(write, {% if case.registers_files() %}IOSQE_FIXED_FILE | {% endif %}IOSQE_IO_LINK);
    struct io_uring_sqe *sync = io_uring_get_sqe(&queue->ring);
    queue->in_flight++;
    io_uring_prep_fsync(sync, fd, {% if case.is_fdatasync() %}IORING_FSYNC_DATASYNC{% else %}0{% endif %});
{%- if case.registers_files() %}
    io_uring_sqe_set_flags(sync, IOSQE_FIXED_FILE);
{%- endif %}
    io_uring_sqe_set_data64(sync, slot * 2 + 1);
{%- endif %}
{%- if case.has_ring() %}
    // The producer's next chunk overlaps with this write.
    io_uring_submit(&queue->ring);
{%- else if case.is_direct() %}
    // The copy of the next chunk overlaps with this write.
    if (queue->buffer != NULL)
        io_uring_submit(&queue->ring);
{%- endif %}
}

// Takes a completion. Returns an error number.
static int completed(struct queue *queue, unsigned long long user_data, int result)
{
{%- if case.sync_after_several().is_some() %}
    if (user_data == SYNC)
        return -result;
{%- endif %}
    unsigned slot = (unsigned)(user_data / 2);
    struct chunk *chunk = &queue->chunks[slot];
{%- if case.is_dontcache() %}
    if (result == -EOPNOTSUPP && user_data % 2 == 0 && (queue->flags & RWF_DONTCACHE)) {
        queue->flags &= ~RWF_DONTCACHE; // unsupported here: the page cache keeps the data
        result = -EAGAIN;
    } else if (result == -EOPNOTSUPP && user_data % 2 == 0 && !(queue->flags & RWF_DONTCACHE)) {
        result = -EAGAIN; // begun before that was known
    }
{%- endif %}
{%- if case.sync_every() == Some(1) %}
    if (user_data % 2 == 1) {
        // A short write cancels its sync.
        if (result < 0 && !(result == -ECANCELED && chunk->left > 0))
            return -result;
    } else {
        if (result <= 0 && result != -EINTR && result != -EAGAIN)
            return result < 0 ? -result : EIO; // 0: the next would also write nothing
        chunk->at += result > 0 ? (size_t)result : 0;
        chunk->left -= result > 0 ? (size_t)result : 0;
        return 0;
    }
{%- else %}
    if (result <= 0 && result != -EINTR && result != -EAGAIN)
        return result < 0 ? -result : EIO; // 0: the next would also write nothing
    chunk->at += result > 0 ? (size_t)result : 0;
    chunk->left -= result > 0 ? (size_t)result : 0;
{%- endif %}
    if (chunk->left > 0)
        push(queue, slot); // the rest of a short write
    else
        queue->free[queue->free_count++] = slot;
    return 0;
}

{% include "c/uring_wait.c" %}
{%- if case.has_ring() %}
{%- include "c/queue_uring.c" %}
{%- include "c/write_stream.c" %}
{%- else %}

{%- include "c_family/write_plainly.c" %}

static int write_part(int fd, const char *data, size_t size, off_t offset)
{
{%- if case.chunk().is_none() %}
    const size_t {{ case.ring_chunk_c() }} = size < INT_MAX / 4096 * 4096 ? size : INT_MAX / 4096 * 4096;
{%- endif %}
    if (size == 0)
        return 0;
    struct queue queue = {.data = data, .offset = offset, .fd = fd{% if case.has_flags() %}, .flags = {{ case.flags_c() }}{% endif %}{% if case.is_direct() && case.chunk().is_none() %}, .most = most{% endif %}};
    int error = io_uring_queue_init(DEPTH * 2, &queue.ring, 0);
    if (error == -ENOSYS || error == -EPERM || error == -ENOMEM)
        return write_plainly(fd, data, size, offset);
    if (error < 0) {
        errno = -error;
        return -1;
    }
    error = 0;
    for (unsigned i = 0; i < DEPTH; i++)
        queue.free[queue.free_count++] = DEPTH - 1 - i;
{%- if case.is_direct() %}
    if ((uintptr_t)data % BLOCK != 0)
        error = {{ case.memalign_c("(void **)&queue.buffer", "BLOCK") }}, DEPTH * {{ case.ring_chunk_c() }});
{%- endif %}
{%- if case.registers_buffers() %}
    struct iovec memory = {(void *)data, size};
{%- if case.is_direct() %}
    if (queue.buffer != NULL)
        memory = (struct iovec){queue.buffer, DEPTH * {{ case.ring_chunk_c() }}};
{%- endif %}
    // The kernel pins it once, not for each write, up to RLIMIT_MEMLOCK and 1 GiB.
    queue.is_registered = error == 0 && io_uring_register_buffers(&queue.ring, &memory, 1) == 0;
{%- endif %}
{%- if case.registers_files() %}
    if (error == 0)
        error = -io_uring_register_files(&queue.ring, &fd, 1);
{%- endif %}
    size_t next = 0;
    while (error == 0 && (next < size || queue.free_count < DEPTH)) {
{%- if let Some(every) = case.sync_after_several() %}
        while (next < size && queue.free_count > 0 && queue.queued < {{ every }}) {
{%- else %}
        while (next < size && queue.free_count > 0) {
{%- endif %}
            unsigned slot = queue.free[--queue.free_count];
            size_t length = size - next < {{ case.ring_chunk_c() }} ? size - next : {{ case.ring_chunk_c() }};
            queue.chunks[slot] = (struct chunk){next, length};
            push(&queue, slot);
            next += length;
{%- if let Some(every) = case.sync_after_several() %}
            queue.queued++;
        }
        error = queue.free_count < DEPTH ? wait_for_one(&queue) : 0;
        // All queued chunks are written: now they become durable.
        if (error == 0 && queue.free_count == DEPTH && queue.queued > 0 && (queue.queued >= {{ every }} || next == size)) {
            queue.queued = 0;
            struct io_uring_sqe *sync = io_uring_get_sqe(&queue.ring);
            io_uring_prep_fsync(sync, {% if case.registers_files() %}0{% else %}fd{% endif %}, {% if case.is_fdatasync() %}IORING_FSYNC_DATASYNC{% else %}0{% endif %});
            io_uring_sqe_set_data64(sync, SYNC);
{%- if case.registers_files() %}
            io_uring_sqe_set_flags(sync, IOSQE_FIXED_FILE);
{%- endif %}
            queue.in_flight++;
            error = wait_for_one(&queue);
        }
{%- else %}
        }
        error = wait_for_one(&queue);
{%- endif %}
    }
    if (error != 0)
        drain(&queue);
    io_uring_queue_exit(&queue.ring);
{%- if case.is_direct() %}
    free(queue.buffer);
{%- endif %}
    errno = error;
    return error == 0 ? 0 : -1;
}
{%- include "c_family/write_rest.c" %}
{%- if case.threads() > 1 %}
{% include "c/parts.c" %}
{%- endif %}
{%- endif %}
{% endblock %}
{% block fill %}
{%- if case.has_ring() %}
{%- include "c/fill_stream.c" %}
{%- else %}
{%- include "c/fill.c" %}
{%- endif %}
{% endblock %}
