{%- if case.writeback().is_some() %}

// Keeps the device busy while the file is written, and the page cache free of what it has to write.
class WriteBehind {
public:
    WriteBehind(int fd, std::size_t from) : fd_{fd}, ended_{from}, started_{from} {}

    // Starts writing out what was written since the last time, and waits for what was started then.
    void reached(std::size_t at)
    {
        if (at - started_ < behind_size)
            return;
        write_out(started_, at, SYNC_FILE_RANGE_WRITE);
        if (ended_ < started_) {
            write_out(ended_, started_,
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE
                          | SYNC_FILE_RANGE_WAIT_AFTER);
{%- if case.drops() %}
            ::posix_fadvise(fd_, static_cast<off_t>(ended_), static_cast<off_t>(started_ - ended_),
                            POSIX_FADV_DONTNEED);
{%- endif %}
        }
        ended_ = started_;
        started_ = at;
    }

private:
    void write_out(std::size_t from, std::size_t until, unsigned flags) const
    {
        if (::sync_file_range(fd_, static_cast<off_t>(from), static_cast<off_t>(until - from),
                              flags) != 0)
            fail("sync_file_range");
    }

    int fd_;
    std::size_t ended_, started_; // until there, data is on the device, and on its way
};
{%- endif %}
