

// A call may write less, and a signal may interrupt it.
static int write_all(int fd, const char *data, size_t size, off_t offset)
{
    while (size > 0) {
        const ssize_t written = pwrite(fd, data, size, offset);
        if (has_failed(written))
            return -1;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
        offset += written > 0 ? written : 0;
    }
    return {% if let Some(call) = case.sync_without_ring() %}{{ call }}(fd){% else %}0{% endif %};
}

// Returns an error number.
static int start(struct queue *queue)
{
    for (unsigned i = 0; i < DEPTH; i++)
        queue->free[queue->free_count++] = DEPTH - 1 - i;
    int error = io_uring_queue_init(DEPTH, &queue->ring, 0);
    if (error == -ENOSYS || error == -EPERM || error == -ENOMEM)
        return 0; // missing or forbidden, as in many containers
    if (error < 0)
        return -error;
    queue->is_open = 1;
{%- if case.registers_buffers() %}
    // The kernel pins it once, not for each write, up to RLIMIT_MEMLOCK and 1 GiB.
    struct iovec memory = {(void *)queue->data, DEPTH * CHUNK};
    queue->is_registered = io_uring_register_buffers(&queue->ring, &memory, 1) == 0;
{%- endif %}
{%- if case.registers_files() %}
    error = io_uring_register_files(&queue->ring, &queue->fd, 1);
{%- endif %}
    return -error;
}

// Waits for a buffer that no write uses. Returns an error number.
static int take(struct queue *queue, unsigned *slot)
{
    int error = 0;
    while (queue->free_count == 0 && error == 0)
        error = wait_for_one(queue);
    if (error == 0)
        *slot = queue->free[--queue->free_count];
    return error;
}

// Returns an error number.
static int begin(struct queue *queue, unsigned slot, off_t at)
{
    if (!queue->is_open) {
        queue->free[queue->free_count++] = slot;
        return write_all(queue->fd, queue->data + slot * CHUNK, CHUNK, at) == 0 ? 0 : errno;
    }
    queue->chunks[slot] = (struct chunk){(size_t)at, CHUNK};
    push(queue, slot);
    return 0;
}

// Waits for all writes. Returns an error number.
static int finish(struct queue *queue)
{
    int error = 0;
    while (queue->in_flight > 0 && error == 0)
        error = wait_for_one(queue);
    if (error != 0)
        drain(queue);
    if (queue->is_open)
        io_uring_queue_exit(&queue->ring);
    return error;
}
