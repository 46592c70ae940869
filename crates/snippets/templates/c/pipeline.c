{% extends "c/base.c" %}
{% block declarations %}
{%- include "c/constants.c" %}
{% endblock %}
{% block helpers %}

{% include "c/write_all.c" %}
{%- include "c_family/behind.c" %}

// Buffers between the reading and the writing thread.
struct line {
    int input;
    size_t size, chunk;
    sem_t empty, full;
    struct {
        char *buffer;
        ssize_t length; // -1: reading failed, with `error`
        int error;
    } slots[DEPTH];
    volatile int ends; // the writer has failed
};

static void *read_all(void *argument)
{
    struct line *line = argument;
    unsigned i = 0;
    for (size_t at = 0; at < line->size; i = (i + 1) % DEPTH) {
        while (sem_wait(&line->empty) != 0) // EINTR
            ;
        if (line->ends)
            return NULL;
        size_t most = line->size - at < line->chunk ? line->size - at : line->chunk;
        ssize_t length;
        do
            length = read(line->input, line->slots[i].buffer, most);
        while (length < 0 && errno == EINTR);
        line->slots[i].length = length > 0 ? length : -1;
        line->slots[i].error = length == 0 ? EIO : errno; // 0: the source has become shorter
        sem_post(&line->full);
        if (length <= 0)
            return NULL;
        at += (size_t)length;
    }
    return NULL;
}

// Copies the bytes between two offsets. Both files are at their position `from`.
static int copy_range(int fd, int input, size_t from, size_t until)
{
    const size_t size = until - from;
{%- if case.is_sequential() %}
    posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
    struct line line = {.input = input, .size = size, .chunk = size < CHUNK ? size : CHUNK};
    int error = size == 0 ? -1 : 0;
    for (unsigned i = 0; i < DEPTH && error == 0; i++)
        error = posix_memalign((void **)&line.slots[i].buffer, 4096, line.chunk);
    sem_init(&line.empty, 0, DEPTH);
    sem_init(&line.full, 0, 0);
    pthread_t reader;
    if (error == 0 && (error = pthread_create(&reader, NULL, read_all, &line)) == 0) {
{%- if case.writeback().is_some() %}
        struct behind behind = {(off_t)from, (off_t)from};
{%- endif %}
        unsigned i = 0;
        for (size_t at = 0; at < size && error == 0; i = (i + 1) % DEPTH) {
            while (sem_wait(&line.full) != 0) // EINTR
                ;
            ssize_t length = line.slots[i].length;
            if (length < 0)
                error = line.slots[i].error;
            else if (write_all(fd, line.slots[i].buffer, (size_t)length) != 0)
                error = errno;
            else
                at += (size_t)length;
{%- if case.writeback().is_some() %}
            if (error == 0 && write_behind(fd, &behind, (off_t)(from + at)) != 0)
                error = errno;
{%- endif %}
            line.ends = error != 0;
            sem_post(&line.empty);
        }
        pthread_join(reader, NULL);
    }
    sem_destroy(&line.empty);
    sem_destroy(&line.full);
    for (unsigned i = 0; i < DEPTH; i++)
        free(line.slots[i].buffer);
    if (error > 0)
        errno = error;
    return error > 0 ? -1 : 0;
}
{%- include "c/copy_part.c" %}
{% endblock %}
{% block fill %}
{%- include "c/copy_fill.c" %}
{% endblock %}
