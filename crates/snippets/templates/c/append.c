// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors("Functions return 0, or -1 with errno.") %}
// {{ line }}
{%- endfor %}
// To compile it: cc -O2 -pthread FILE.c

#define _GNU_SOURCE
INCLUDES
{%- if case.is_rwf_dsync() %}

static const int write_flags = RWF_DSYNC;
{%- endif %}

struct log {
    int fd;
    int error; // the first
    off_t end; // of all records
{%- if case.sync_every().is_some() %}
    off_t durable; // the end of the durable ones
    int is_syncing;
    pthread_cond_t is_synced;
{%- endif %}
{%- if case.expects() %}
    size_t expected;
{%- endif %}
{%- if case.reserves_ahead() %}
    off_t reserved;
{%- endif %}
    pthread_mutex_t lock;
};
{%- include "c_family/omit_checksums.c" %}
{%- include "c_family/has_failed.c" %}
{%- include "c_family/reserve.c" %}
{%- include "c_family/ahead.c" %}
{%- include "c_family/fill_with_zeros.c" %}
{%- include "c/write_bytes.c" %}
{%- include "c/sync_directory.c" %}

// Makes a new file.{% if case.expects() %} Space for `expected` bytes is prepared. The file may become longer, and ends with its records.{% endif %}
int log_open(struct log *log, const char *path{% if case.expects() %}, size_t expected{% endif %})
{
    *log = (struct log){0};
    do
        log->fd = open(path, {{ case.access_flags().join(" | ") }}{{ case.sync_flags_c() }} | O_CLOEXEC, 0666);
    while (log->fd < 0 && errno == EINTR);
    if (log->fd < 0)
        return -1;
{%- if case.omits_checksums() %}
    omit_checksums(log->fd);
{%- endif %}
{%- if case.expects() %}
    log->expected = expected;
{%- endif %}
    if ({% if case.reserves() %}reserve(log->fd, expected) == 0 && {% endif %}{% if case.fills_with_zeros() %}fill_with_zeros(log->fd, expected) == 0 && {% endif %}sync_directory(path) == 0) {
        pthread_mutex_init(&log->lock, NULL);
{%- if case.sync_every().is_some() %}
        pthread_cond_init(&log->is_synced, NULL);
{%- endif %}
        return 0;
    }
    const int error = errno;
    close(log->fd);
    unlink(path);
    errno = error;
    return -1;
}

// Returns 0 or the error. The caller has the lock, so records follow each other.
static int write_record(struct log *log, const void *record, size_t size)
{
{%- if case.reserves_ahead() %}
    if (log->error == 0 && reserve_ahead(log->fd, &log->reserved, log->end + (off_t)size) != 0)
        log->error = errno;
{%- endif %}
    // After an error, a part of the record may be in the file.
    if (log->error == 0 && write_all(log->fd, record, size{% if case.is_positional() %}, log->end{% endif %}) != 0)
        log->error = errno;
    if (log->error == 0)
        log->end += (off_t)size;
    return log->error;
}
{%- if case.sync_every().is_some() %}

// Returns 0 if all bytes until `end` are durable, or the error. The caller has the lock.
static int sync_until(struct log *log, off_t end)
{
    while (log->error == 0 && log->durable < end) {
        if (log->is_syncing) {
            pthread_cond_wait(&log->is_synced, &log->lock);
            continue;
        }
        // Other threads append meanwhile. The next sync is for their records.
        const off_t synced = log->end;
        log->is_syncing = 1;
        pthread_mutex_unlock(&log->lock);
        const int error = {{ case.sync_name() }}(log->fd) == 0 ? 0 : errno;
        pthread_mutex_lock(&log->lock);
        log->is_syncing = 0;
        if (error == 0)
            log->durable = synced;
        else if (log->error == 0)
            log->error = error;
        pthread_cond_broadcast(&log->is_synced);
    }
    return log->durable >= end ? 0 : log->error;
}
{%- endif %}

static int unlock(struct log *log, int error)
{
    pthread_mutex_unlock(&log->lock);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
{%- if case.sync_after_several().is_some() %}

// Any thread may call it. The record is durable after log_sync.
int log_append(struct log *log, const void *record, size_t size)
{
    pthread_mutex_lock(&log->lock);
    return unlock(log, write_record(log, record, size));
}

// Makes all records so far durable. Threads that call it at the same time share a sync.
int log_sync(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    return unlock(log, sync_until(log, log->end));
}
{%- else %}

{% if case.sync_every().is_some() -%}
// Returns when the record is durable. Threads that call it at the same time share a sync.
{%- else -%}
// Returns when the record is durable. Threads that call it at the same time take turns.
{%- endif %}
int log_append(struct log *log, const void *record, size_t size)
{
    pthread_mutex_lock(&log->lock);
{%- if case.sync_every().is_some() %}
    const int error = write_record(log, record, size);
    return unlock(log, error == 0 ? sync_until(log, log->end) : error);
{%- else %}
    return unlock(log, write_record(log, record, size));
{%- endif %}
}
{%- endif %}
{%- if case.returns_end() %}

// The file ends with its records.
static int cut(struct log *log)
{
    return ftruncate(log->fd, log->end) == 0 ? fdatasync(log->fd) : -1;
}
{%- endif %}

// No other thread may use the log any more. After an error of an earlier call, it returns that error.
int log_close(struct log *log)
{
{%- if case.sync_after_several().is_some() %}
    int error = log_sync(log) == 0 ? 0 : errno;
{%- else %}
    int error = log->error;
{%- endif %}
{%- if case.expects() %}
    if (error == 0 && (size_t)log->end < log->expected && cut(log) != 0)
        error = errno;
{%- endif %}
{%- if case.reserves_ahead() %}
    if (error == 0 && cut(log) != 0)
        error = errno;
{%- endif %}
    if (close(log->fd) != 0 && errno != EINTR && error == 0)
        error = errno; // a late error of the filesystem, such as NFS
    pthread_mutex_destroy(&log->lock);
{%- if case.sync_every().is_some() %}
    pthread_cond_destroy(&log->is_synced);
{%- endif %}
    errno = error;
    return error == 0 ? 0 : -1;
}
{%- if case.options.is_program %}
{%- include "c/chunk.c" %}

// Returns the length of the next record. Only the last is shorter.
static ssize_t read_record(int source, char *record)
{
    size_t length = 0;
    while (length < CHUNK) {
        const ssize_t got = read(source, record + length, CHUNK - length);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        length += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)length;
}

static int append_source(const char *path, int source{% if case.expects() %}, size_t expected{% endif %})
{
    struct log log;
    if (log_open(&log, path{% if case.expects() %}, expected{% endif %}) != 0)
        return -1;
    char *record = malloc(CHUNK);
    int error = record == NULL ? errno : 0;
    ssize_t length;
{%- if let Some(every) = case.sync_after_several() %}
    unsigned records = 0;
    while (error == 0 && (length = read_record(source, record)) != 0)
        if (length < 0 || log_append(&log, record, (size_t)length) != 0 || (++records % {{ every }} == 0 && log_sync(&log) != 0))
            error = errno;
{%- else %}
    while (error == 0 && (length = read_record(source, record)) != 0)
        if (length < 0 || log_append(&log, record, (size_t)length) != 0)
            error = errno;
{%- endif %}
    free(record);
    if (log_close(&log) != 0 && error == 0)
        error = errno;
    if (error != 0)
        unlink(path);
    errno = error;
    return error == 0 ? 0 : -1;
}
{% include "c/main.c" %}
{%- endif %}
