{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}
{%- if case.is(Method::ReadWrite) || case.is(Method::MmapWrite) %}
{%- include "cpp/write_all.cpp" %}
{%- endif %}
{%- include "c_family/behind.c" %}
{%- if case.is(Method::MmapWrite) %}
{%- include "cpp/mapping.cpp" %}
{%- endif %}
{%- if case.is(Method::Splice) %}

// A pipe that holds a chunk, up to the limit of ordinary users: see pipe(7).
class Pipe {
public:
    Pipe()
    {
        if (::pipe2(ends_, O_CLOEXEC) != 0)
            fail("pipe2");
        ::fcntl(ends_[1], F_SETPIPE_SZ, {{ case.pipe_c() }});
    }
    ~Pipe()
    {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;

    int output() const { return ends_[0]; }
    int input() const { return ends_[1]; }

private:
    int ends_[2];
};
{%- endif %}

// Copies the bytes between two offsets. Both files are at the position of the first.
void copy_range(int fd, int input, std::size_t from, std::size_t until)
{
{%- if case.maps_source() %}
    if (from == until) // a mapping cannot be empty
        return;
{%- endif %}
{%- if case.chunk().is_none() %}
    const std::size_t chunk_size = until - from;
{%- endif %}
{%- if case.is_sequential() && !case.maps_source() && !case.keeps_holes() %}
    ::posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    ::posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
{%- if case.is(Method::ReadWrite) %}
    const Memory buffer = allocate(4096, std::min(chunk_size, until - from));
{%- else if case.is(Method::MmapWrite) %}
    const std::size_t length = until - from;
    const Mapping map{::mmap(nullptr, length, PROT_READ, MAP_SHARED, input, static_cast<off_t>(from)), length};
{%- if case.is_sequential() %}
    ::madvise(map.data(), length, MADV_WILLNEED);
    ::madvise(map.data(), length, MADV_SEQUENTIAL);
{%- endif %}
{%- if case.populates() %}
    std::size_t present = from;
{%- endif %}
{%- else if case.is(Method::Splice) %}
    constexpr unsigned splice_flags = SPLICE_F_MOVE | SPLICE_F_MORE;
    const Pipe pipe;
{%- endif %}
{%- if case.writeback().is_some() %}
    behind range{static_cast<off_t>(from), static_cast<off_t>(from)};
{%- endif %}
    for (std::size_t at = from; at < until;) {
        const std::size_t most = std::min(chunk_size, until - at);
{%- if case.is(Method::MmapWrite) %}
        char *const bytes = map.data() + (at - from);
{%- if case.populates() %}
        if (at >= present) {
            present = at + std::min(window_size, until - at);
            ::madvise(bytes, present - at, MADV_POPULATE_READ); // older kernels refuse
        }
{%- endif %}
        write_all(fd, bytes, most);
        at += most;
{%- else %}
{%- if case.is(Method::ReadWrite) %}
        const ssize_t moved = ::read(input, buffer.get(), most);
{%- else if case.is(Method::Splice) %}
        const ssize_t moved = ::splice(input, nullptr, pipe.input(), nullptr, most, splice_flags);
{%- else if case.is(Method::Sendfile) %}
        const ssize_t moved = ::sendfile(fd, input, nullptr, most);
{%- else %}
        const ssize_t moved = ::copy_file_range(input, nullptr, fd, nullptr, most, 0);
{%- endif %}
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            fail("{% if case.is(Method::Splice) %}splice{% else if case.is(Method::Sendfile) %}sendfile{% else if case.is(Method::CopyFileRange) %}copy_file_range{% else %}read{% endif %}", moved == 0 ? EIO : errno); // 0: the source is shorter now
{%- if case.is(Method::ReadWrite) %}
        write_all(fd, buffer.get(), static_cast<std::size_t>(moved));
{%- else if case.is(Method::Splice) %}
        for (auto left = static_cast<std::size_t>(moved); left > 0;)
            left -= written_by("splice", ::splice(pipe.output(), nullptr, fd, nullptr, left, splice_flags));
{%- endif %}
        at += static_cast<std::size_t>(moved);
{%- endif %}
{%- if case.writeback().is_some() %}
        if (write_behind(fd, &range, static_cast<off_t>(at)) != 0)
            fail("sync_file_range");
{%- endif %}
    }
}
{%- if case.keeps_holes() %}

// Copies the data between two offsets. The holes of the source remain holes.
void copy_data(int fd, int input, std::size_t from, std::size_t until)
{
{%- if case.is_sequential() %}
    ::posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    ::posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
    const auto last = static_cast<off_t>(until);
    for (auto at = static_cast<off_t>(from); at < last;) {
        const off_t start = ::lseek(input, at, SEEK_DATA);
        if (start < 0 && errno == ENXIO && ::lseek(input, 0, SEEK_END) >= last)
            return; // a hole up to the end
        if (start < 0)
            fail("lseek", errno == ENXIO ? EIO : errno); // ENXIO: the source is shorter now
        if (start >= last)
            return;
        at = std::min(::lseek(input, start, SEEK_HOLE), last);
        if (at < 0 || ::lseek(input, start, SEEK_SET) < 0 || ::lseek(fd, start, SEEK_SET) < 0)
            fail("lseek");
        copy_range(fd, input, static_cast<std::size_t>(start), static_cast<std::size_t>(at));
    }
}
{%- endif %}
{% endblock %}
{% block fill %}
{%- include "cpp/copy_fill.cpp" %}
{%- endblock %}
