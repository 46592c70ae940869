/* Threads that wait for the clock, work on a part each, and meet again. A single part has no thread. */
#ifndef PARITY_THREADS_H
#define PARITY_THREADS_H

#include <pthread.h>

typedef void work(void *part);

struct worker {
    work *work;
    void *part;
    pthread_t thread;
};

static struct worker workers[FILES_MAX];
static unsigned worker_count;
static pthread_barrier_t parked, go, done;

static inline void *run_thread(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(&parked);
    pthread_barrier_wait(&go);
    worker->work(worker->part);
    pthread_barrier_wait(&done);
    return NULL;
}

static inline void start_threads(work *work, void *parts, size_t part_bytes, unsigned threads)
{
    pthread_barrier_t *barriers[] = {&parked, &go, &done};
    worker_count = threads;
    for (unsigned i = 0; i < threads; i++)
        workers[i] = (struct worker){.work = work, .part = (char *)parts + i * part_bytes};
    if (threads == 1)
        return;
    for (int i = 0; i < 3; i++)
        if (pthread_barrier_init(barriers[i], NULL, threads + 1) != 0)
            die("pthread_barrier_init");
    for (unsigned i = 0; i < threads; i++) {
        int error = pthread_create(&workers[i].thread, NULL, run_thread, &workers[i]);
        if (error != 0)
            die_of("pthread_create", error);
    }
    pthread_barrier_wait(&parked);
}

/* All parts' work, inside the clock. */
static inline void work_together(void)
{
    if (worker_count == 1) {
        workers[0].work(workers[0].part);
        return;
    }
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&done);
}

static inline void join_threads(void)
{
    for (unsigned i = 0; i < worker_count && worker_count > 1; i++)
        pthread_join(workers[i].thread, NULL);
}

/* The border before that part where contiguous ranges of whole units are shared out. */
static inline uint64_t border(unsigned part, unsigned parts, uint64_t size_bytes, uint64_t unit_bytes)
{
    uint64_t units = (size_bytes + unit_bytes - 1) / unit_bytes;
    uint64_t at = units * part / parts * unit_bytes;
    return at < size_bytes ? at : size_bytes;
}

static inline unsigned thread_count(const char *argument, uint64_t size_bytes, uint64_t unit_bytes)
{
    uint64_t threads = number(argument);
    if (threads > FILES_MAX || (threads > 1 && size_bytes < threads * unit_bytes))
        die_of("more threads than chunks", EINVAL);
    return (unsigned)threads;
}
#endif
