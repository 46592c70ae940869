{%- if case.writeback().is_some() %}

// The range of the file that is being written out. It keeps the device busy while the file is written, and few pages
// dirty.
struct behind {
    off_t ended, started;
};

// Starts the write-back of new data, and waits for the one before.
static int write_behind(int fd, struct behind *range, off_t at)
{
    const off_t ended = range->ended, started = range->started;
    if (at - started < BEHIND)
        return 0;
    if (sync_file_range(fd, started, at - started, SYNC_FILE_RANGE_WRITE) != 0)
        return -1;
    if (ended < started) {
        const unsigned wait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
        if (sync_file_range(fd, ended, started - ended, wait) != 0)
            return -1;
{%- if case.drops() %}
        posix_fadvise(fd, ended, started - ended, POSIX_FADV_DONTNEED);
{%- endif %}
    }
    range->ended = started;
    range->started = at;
    return 0;
}
{%- endif %}
