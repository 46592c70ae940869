

// Part of a file in memory.
class Mapping {
public:
    Mapping(void *start, std::size_t length, std::size_t skipped)
        : start_{static_cast<char *>(start)}, length_{length}, skipped_{skipped}
    {
        if (start == MAP_FAILED)
            fail("mmap");
    }
    ~Mapping() { ::munmap(start_, length_); }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    char *data() const { return start_ + skipped_; }
{%- if case.syncs_map() && case.syncs_at_end() %}

    void sync() const
    {
        // After an error of this call, a second one may succeed though data is lost: write it anew.
        if (::msync(start_, length_, MS_SYNC) != 0)
            fail("msync");
    }
{%- endif %}

private:
    char *start_;
    std::size_t length_, skipped_;
};
{%- if !case.maps_huge() || case.maps_source() %}

// A mapping begins at a page.
Mapping map_file(int fd, int protection, std::size_t from, std::size_t length)
{
    const std::size_t skipped = from % static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto page = static_cast<off_t>(from - skipped);
    length += skipped;
    return {::mmap(nullptr, length, protection, MAP_SHARED, fd, page), length, skipped};
}
{%- endif %}
