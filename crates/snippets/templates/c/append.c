// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors("Functions return 0, or -1 with errno. log_open also returns -2 with errno if only the directory could not be synced.") %}
// {{ line }}
{%- endfor %}
// To compile it: cc -O2 -pthread FILE.c

#define _GNU_SOURCE
INCLUDES
{%- include "c_family/features.c" %}
{%- if case.is_rwf_dsync() %}

static const int write_flags = RWF_DSYNC;
{%- endif %}

// Before each record in the file, in the processor's byte order.
struct head {
    uint32_t length; // of the record; never 0, so prepared zeros are no record
    uint32_t check; // CRC-32C of the check before, the length and the record's own CRC-32C
};

// The log begins with a page of its own: this, and zeros.
struct first_page {
    char what[8];
    uint64_t salt; // another in each log, whose records a disk may have kept in the same blocks
    uint32_t check;
};
static const char WHAT[8] = "wb-log1";
enum { PAGE = 4096 };

// An earlier record, in the order of the log. Not 0 is an error: errno.
typedef int log_reader(void *context, const void *record, size_t size);

struct log {
    int fd;
    int error; // the first
    int was_cut; // log_open has cut more than zeros: records that were not durable, or are damaged
    off_t end; // of all records
    uint32_t check; // of the last one
    uint32_t crc_table[256];
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

// A checksum of storage: iSCSI, ext4 and btrfs have it. Processors also have an instruction for it.
static uint32_t crc32c(const struct log *log, const void *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (const unsigned char *byte = data; size > 0; size--)
        crc = crc >> 8 ^ log->crc_table[(crc ^ *byte++) & 255];
    return ~crc;
}

static void make_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
        table[i] = crc;
    }
}

// Each check contains the one before, so no record of an earlier time is taken for the next one.
static uint32_t check_after(const struct log *log, uint32_t length, uint32_t crc)
{
    const uint32_t all[] = {log->check, length, crc};
    return crc32c(log, all, sizeof all);
}

static int write_first_page(struct log *log)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct first_page page = {.salt = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
    memcpy(page.what, WHAT, sizeof WHAT);
    page.check = crc32c(log, &page, offsetof(struct first_page, check));
    char bytes[PAGE] = {0};
    memcpy(bytes, &page, sizeof page);
    if (write_all(log->fd, bytes, PAGE{% if case.is_positional() %}, 0{% endif %}) != 0)
        return -1;
    log->end = PAGE;
    log->check = page.check;
    return {% if case.sync_every().is_some() %}{{ case.sync_name() }}(log->fd){% else %}0{% endif %};
}

// Returns the bytes, fewer only at the file's end, or -1 with errno.
static ssize_t read_at(int fd, void *data, size_t size, off_t offset)
{
    size_t length = 0;
    while (length < size) {
        const ssize_t got = pread(fd, (char *)data + length, size - length, offset + (off_t)length);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        length += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)length;
}

// Whether only zeros follow: 1, 0, or -1 with errno.
static int is_zero_from(int fd, off_t offset)
{
    char bytes[PAGE];
    ssize_t length;
    while ((length = read_at(fd, bytes, sizeof bytes, offset)) > 0) {
        for (ssize_t i = 0; i < length; i++)
            if (bytes[i] != 0)
                return 0;
        offset += length;
    }
    return length < 0 ? -1 : 1;
}

// Gives each whole record to the reader. Then log->end is the end of the last one.
static int read_records(struct log *log, off_t file_end, log_reader *reader, void *context)
{
    int result = 0;
    char *record = NULL;
    struct head head;
    ssize_t got;
    while ((got = read_at(log->fd, &head, sizeof head, log->end)) == (ssize_t)sizeof head) {
        const off_t start = log->end + (off_t)sizeof head;
        if (head.length == 0 || (off_t)head.length > file_end - start)
            break;
        char *larger = realloc(record, head.length);
        record = larger == NULL ? record : larger;
        if (larger == NULL || (got = read_at(log->fd, record, head.length, start)) < 0) {
            got = -1;
            break;
        }
        const uint32_t check = check_after(log, head.length, crc32c(log, record, head.length));
        if (got < (ssize_t)head.length || check != head.check)
            break;
        if (reader != NULL && (result = reader(context, record, head.length)) != 0)
            break;
        log->check = check;
        log->end = start + (off_t)head.length;
    }
    const int error = errno;
    free(record);
    errno = error;
    return got < 0 || result != 0 ? -1 : 0;
}

// After a crash, a part of a record may be at the end, or zeros and a later record. They were never durable.
static int recover(struct log *log, log_reader *reader, void *context)
{
    // The page cache may have data whose sync has failed: only what the disk has counts.
    struct stat status;
    if (fdatasync(log->fd) != 0 || fstat(log->fd, &status) != 0)
        return -1;
    posix_fadvise(log->fd, 0, 0, POSIX_FADV_DONTNEED);
    struct first_page page = {0};
    if (read_at(log->fd, &page, sizeof page, 0) < 0)
        return -1;
    const uint32_t check = crc32c(log, &page, offsetof(struct first_page, check));
    if (memcmp(page.what, WHAT, sizeof WHAT) != 0 || page.check != check || status.st_size < PAGE) {
        const int is_empty = S_ISREG(status.st_mode) ? is_zero_from(log->fd, 0) : 0;
        if (is_empty == 0)
            errno = EINVAL; // no log: it is left as it is
        return is_empty == 1 && ftruncate(log->fd, 0) == 0 ? write_first_page(log) : -1;
    }
    log->check = check;
    log->end = PAGE;
    if (read_records(log, status.st_size, reader, context) != 0)
        return -1;
    const int is_zero = is_zero_from(log->fd, log->end);
    if (is_zero < 0)
        return -1;
    log->was_cut = !is_zero;
{%- if case.reserves_ahead() %}
    log->reserved = log->end;
{%- endif %}
{%- if !case.is_positional() %}
    if (lseek(log->fd, log->end, SEEK_SET) < 0)
        return -1;
{%- endif %}
    return ftruncate(log->fd, log->end) == 0 ? fdatasync(log->fd) : -1;
}

// Makes a new log, or opens an old one: gives its records to the reader, which may be NULL, and cuts what follows them.
{%- if case.expects() %}
// In a new log, space for `expected` bytes is prepared. The file may become longer, and ends with its records.
{%- endif %}
// EINVAL: the file is no log. EWOULDBLOCK: another process has it open.
int log_open(struct log *log, const char *path, log_reader *reader, void *context{% if case.expects() %}, size_t expected{% endif %})
{
    *log = (struct log){0};
    make_table(log->crc_table);
    do
        log->fd = open(path, {{ case.access_flags().join(" | ") }}{{ case.sync_flags_c() }} | O_CLOEXEC, 0666);
    while (log->fd < 0 && errno == EINTR);
    const int is_new = log->fd >= 0;
    while (log->fd < 0 && (errno == EEXIST || errno == EINTR))
        log->fd = open(path, O_RDWR{{ case.sync_flags_c() }} | O_CLOEXEC);
    if (log->fd < 0)
        return -1;
    int is_removed = 0, result = flock(log->fd, LOCK_EX | LOCK_NB);
    if (result == 0 && is_new) {
{%- if case.omits_checksums() %}
        omit_checksums(log->fd);
{%- endif %}
{%- if case.expects() %}
        log->expected = expected;
{%- endif %}
        result = {% if case.reserves() %}reserve(log->fd, expected) != 0 ? -1 : {% endif %}{% if case.fills_with_zeros() %}fill_with_zeros(log->fd, expected) != 0 ? -1 : {% endif %}write_first_page(log);
        is_removed = result != 0;
    } else if (result == 0) {
        result = recover(log, reader, context);
    }
    if (result == 0)
        result = sync_directory(path);
    if (result == 0) {
{%- if case.sync_every().is_some() %}
        log->durable = log->end;
        pthread_cond_init(&log->is_synced, NULL);
{%- endif %}
        pthread_mutex_init(&log->lock, NULL);
        return 0;
    }
    const int error = errno;
    if (is_removed)
        unlink(path);
    close(log->fd);
    errno = error;
    return result;
}

// Returns 0 or the error. The caller has the lock, so records follow each other.
static int write_record(struct log *log, char *bytes, uint32_t length, uint32_t crc)
{
    const struct head head = {length, check_after(log, length, crc)};
    const size_t size = sizeof head + length;
    memcpy(bytes, &head, sizeof head);
{%- if case.reserves_ahead() %}
    if (log->error == 0 && reserve_ahead(log->fd, &log->reserved, log->end + (off_t)size) != 0)
        log->error = errno;
{%- endif %}
    // After an error, a part of the record may be in the file.
    if (log->error == 0 && write_all(log->fd, bytes, size{% if case.is_positional() %}, log->end{% endif %}) != 0)
        log->error = errno;
    if (log->error == 0) {
        log->end += (off_t)size;
        log->check = head.check;
    }
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

{% if case.sync_after_several().is_some() -%}
// Any thread may call it. The record is durable after log_sync.
{%- else if case.sync_every().is_some() -%}
// Returns when the record is durable. Threads that call it at the same time share a sync.
{%- else -%}
// Returns when the record is durable. Threads that call it at the same time take turns.
{%- endif %}
int log_append(struct log *log, const void *record, size_t size)
{
    if (size == 0 || size > UINT32_MAX) {
        errno = EINVAL;
        return -1;
    }
    // One call writes the head and the record.
    char *bytes = malloc(sizeof(struct head) + size);
    if (bytes == NULL)
        return -1;
    memcpy(bytes + sizeof(struct head), record, size);
    const uint32_t crc = crc32c(log, record, size);
    pthread_mutex_lock(&log->lock);
    {% if case.sync_every().is_some() && case.sync_after_several().is_none() %}{% else %}const {% endif %}int error = write_record(log, bytes, (uint32_t)size, crc);
    free(bytes);
{%- if case.sync_every().is_some() && case.sync_after_several().is_none() %}
    if (error == 0)
        error = sync_until(log, log->end);
{%- endif %}
    return unlock(log, error);
}
{%- if case.sync_after_several().is_some() %}

// Makes all records so far durable. Threads that call it at the same time share a sync.
int log_sync(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    return unlock(log, sync_until(log, log->end));
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

static const size_t RECORD = ((size_t){{ case.chunk().unwrap_or_default() }}) - sizeof(struct head); // so that a call writes a chunk

// Returns the length of the next record. Only the last is shorter.
static ssize_t read_record(int source, char *record)
{
    size_t length = 0;
    while (length < RECORD) {
        const ssize_t got = read(source, record + length, RECORD - length);
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
    const int opened = log_open(&log, path, NULL, NULL{% if case.expects() %}, expected{% endif %});
    if (opened != 0)
        return opened;
    char *record = malloc(RECORD);
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
    errno = error;
    return error == 0 ? 0 : -1;
}
{% include "c/main.c" %}
{%- endif %}
