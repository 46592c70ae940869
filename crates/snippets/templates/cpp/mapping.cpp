

// Part of a file in memory.
class Mapping {
public:
    Mapping(void *start, std::size_t length) : start_{static_cast<char *>(start)}, length_{length}
    {
        if (start == MAP_FAILED)
            fail("mmap");
    }
    ~Mapping() { ::munmap(start_, length_); }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    char *data() const { return start_; }
{%- if case.syncs_map() && case.syncs_at_end() %}

    void sync() const
    {
        // After an error, the data may be lost although a second call succeeds: write it again.
        if (::msync(start_, length_, MS_SYNC) != 0)
            fail("msync");
    }
{%- endif %}

private:
    char *start_;
    std::size_t length_;
};
