{%- if case.writeback().is_some() %}

// Starts writing out what was written since the last call, and waits for what was started by that.
static int write_behind(int fd, off_t offset, size_t at, size_t *started, size_t *ended)
{
    if (sync_file_range(fd, offset + (off_t)*started, (off_t)(at - *started), SYNC_FILE_RANGE_WRITE) != 0)
        return -1;
    if (*ended < *started) {
        off_t from = offset + (off_t)*ended, length = (off_t)(*started - *ended);
        if (sync_file_range(fd, from, length,
                SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0)
            return -1;
{%- if case.drops() %}
        posix_fadvise(fd, from, length, POSIX_FADV_DONTNEED);
{%- endif %}
    }
    *ended = *started;
    *started = at;
    return 0;
}
{%- endif %}
