{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}

// A stream of the C library, with its buffer.
class Stream {
public:
    explicit Stream(int fd) : fd_{fd}
    {
        struct stat status;
        if (::fstat(fd, &status) != 0)
            fail("fstat");
        cookie_io_functions_t functions{};
        functions.write = write_buffer;
        stream_.reset(::fopencookie(&fd_, "w", functions));
        if (!stream_)
            fail("fopencookie");
        // As large as that of fdopen(3).
        const auto size = std::min<std::size_t>(status.st_blksize, buffer_.size());
        std::setvbuf(stream_.get(), buffer_.data(), _IOFBF, size);
    }

    void write(const char *data, std::size_t size)
    {
        if (std::fwrite(data, 1, size, stream_.get()) != size)
            fail("fwrite");
    }

    // The rest of the buffer may still meet a full disk.
    void close()
    {
        if (std::fclose(stream_.release()) != 0)
            fail("fclose");
    }

private:
    struct Close {
        void operator()(std::FILE *stream) const { std::fclose(stream); }
    };

    // It continues after a signal, when stdio itself would drop the rest.
    static ssize_t write_buffer(void *fd, const char *data, std::size_t size)
    {
        for (std::size_t at = 0; at < size;) {
            const ssize_t written = ::write(*static_cast<int *>(fd), data + at, size - at);
            if (has_failed(written))
                return 0;
            at += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
        }
        return static_cast<ssize_t>(size);
    }

    int fd_;
    std::array<char, BUFSIZ> buffer_;
    std::unique_ptr<std::FILE, Close> stream_;
};

// Writes the bytes between two offsets. The file's position is the first.
void write_range(int fd, const char *data, std::size_t from, std::size_t until)
{
    Stream stream{fd};
{%- if case.chunk().is_some() %}
    for (std::size_t at = from; at < until; at += chunk_size)
        stream.write(data + at, std::min(chunk_size, until - at));
{%- else %}
    stream.write(data + from, until - from);
{%- endif %}
    stream.close();
}
{% endblock %}
{% block fill %}
    const auto bytes = static_cast<const char *>(data);
{%- if case.threads() > 1 %}
    in_parts(size, [&](std::size_t from, std::size_t until) {
        // A new descriptor has its own position. The first part uses the file's.
        if (from == 0)
            return write_range(file.get(), bytes, from, until);
        Descriptor own{ {{- case.path_cpp() }}, {{ case.access_flags()[0] }}};
        if (::lseek(own.get(), static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
        write_range(own.get(), bytes, from, until);
        own.close();
    });
{%- else %}
    write_range(file.get(), bytes, 0, size);
{%- endif %}
{%- endblock %}
