

// Buffers between the producer and the writing threads.
struct queue {
    const char *data;
    int fd;
    int ends, error;
    pthread_mutex_t lock;
    pthread_cond_t is_filled, is_free;
    unsigned free_count, free[DEPTH];
    // The numbers of filled and taken chunks, and their buffers.
    size_t filled, taken;
    unsigned buffers[DEPTH];
    unsigned started;
    pthread_t threads[WRITERS];
};

static void *write_buffers(void *argument)
{
    struct queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->taken == queue->filled && !queue->ends)
            pthread_cond_wait(&queue->is_filled, &queue->lock);
        if (queue->taken == queue->filled)
            break;
        const size_t chunk = queue->taken++;
        const unsigned buffer = queue->buffers[chunk % DEPTH];
        int error = queue->error;
        pthread_mutex_unlock(&queue->lock);
        if (error == 0 && write_all(queue->fd, queue->data + buffer * CHUNK, CHUNK, (off_t)(chunk * CHUNK)) != 0)
            error = errno;
        pthread_mutex_lock(&queue->lock);
        queue->error = queue->error == 0 ? error : queue->error;
        queue->free[queue->free_count++] = buffer;
        pthread_cond_signal(&queue->is_free);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

// Returns an error number.
static int start(struct queue *queue)
{
    int error = 0;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->is_filled, NULL);
    pthread_cond_init(&queue->is_free, NULL);
    for (unsigned i = 0; i < DEPTH; i++)
        queue->free[queue->free_count++] = DEPTH - 1 - i;
    for (; queue->started < WRITERS && error == 0; queue->started += error == 0)
        error = pthread_create(&queue->threads[queue->started], NULL, write_buffers, queue);
    return error;
}

// Waits for a buffer that no thread writes. Returns an error number.
static int take(struct queue *queue, unsigned *buffer)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->free_count == 0)
        pthread_cond_wait(&queue->is_free, &queue->lock);
    *buffer = queue->free[--queue->free_count];
    const int error = queue->error;
    pthread_mutex_unlock(&queue->lock);
    return error;
}

// Chunks begin in the order of the file. Returns an error number.
static int begin(struct queue *queue, unsigned buffer, off_t at)
{
    pthread_mutex_lock(&queue->lock);
    queue->buffers[(size_t)at / CHUNK % DEPTH] = buffer;
    queue->filled++;
    const int error = queue->error;
    pthread_cond_signal(&queue->is_filled);
    pthread_mutex_unlock(&queue->lock);
    return error;
}

// Waits for all writes. Returns an error number.
static int finish(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ends = 1;
    pthread_cond_broadcast(&queue->is_filled);
    pthread_mutex_unlock(&queue->lock);
    for (unsigned i = 0; i < queue->started; i++)
        pthread_join(queue->threads[i], NULL);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->is_filled);
    pthread_cond_destroy(&queue->is_free);
    return queue->error;
}
