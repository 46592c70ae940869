// Waits for a completion or more. Returns an error number.
static int wait_for_one(struct queue *queue)
{
    int result;
    do
        result = io_uring_submit_and_wait(&queue->ring, 1);
    while (result == -EINTR);
    if (result < 0)
        return -result;
    unsigned head, count = 0;
    int error = 0;
    struct io_uring_cqe *cqe;
    io_uring_for_each_cqe(&queue->ring, head, cqe) {
        int failed = completed(queue, cqe->user_data, cqe->res);
        error = error == 0 ? failed : error;
        count++;
    }
    io_uring_cq_advance(&queue->ring, count);
    queue->in_flight -= count;
    return error;
}

// After an error, the kernel still uses the memory in flight: waits until it does not.
static void drain(struct queue *queue)
{
    // What was not submitted has no completion.
    for (unsigned left = queue->in_flight - io_uring_sq_ready(&queue->ring); left > 0; left--) {
        struct io_uring_cqe *cqe;
        int result;
        do
            result = io_uring_wait_cqe(&queue->ring, &cqe);
        while (result == -EINTR);
        if (result != 0)
            return;
        io_uring_cqe_seen(&queue->ring, cqe);
    }
}
