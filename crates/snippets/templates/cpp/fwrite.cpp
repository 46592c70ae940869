{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}

// A stream of the C library, with its buffer; it takes the descriptor over.
class Stream {
public:
    explicit Stream(Descriptor &file) : stream_{::fdopen(file.get(), "w")}
    {
        if (!stream_)
            fail("fdopen");
        file.release();
    }

    void write(const char *data, std::size_t size)
    {
        if (std::fwrite(data, 1, size, stream_.get()) != size)
            fail("fwrite");
    }

    // The rest of the buffer may still meet a full disk.
    void flush()
    {
        if (std::fflush(stream_.get()) != 0)
            fail("fflush");
    }
{%- if way.syncs_at_end() %}

    void sync()
    {
        // After an error of this call, a second one may succeed though data is lost: write it anew.
        if (::{{ way.sync_name() }}(::fileno(stream_.get())) != 0)
            fail("{{ way.sync_name() }}");
    }
{%- endif %}

    // Filesystems such as NFS report some errors only now.
    void close()
    {
        if (std::fclose(stream_.release()) != 0)
            fail("fclose");
    }

private:
    struct Close {
        void operator()(std::FILE *stream) const { std::fclose(stream); }
    };
    std::unique_ptr<std::FILE, Close> stream_;
};

// Writes the bytes between two offsets; the stream's position is the first.
void write_range(Stream &stream, const char *data, std::size_t from, std::size_t until)
{
{%- if way.chunk().is_some() %}
    for (std::size_t at = from; at < until; at += chunk_size)
        stream.write(data + at, std::min(chunk_size, until - at));
{%- else %}
    stream.write(data + from, until - from);
{%- endif %}
    stream.flush();
}
{% endblock %}
{% block fill %}
    Stream stream{file};
    const auto bytes = static_cast<const char *>(data);
{%- if way.threads() > 1 %}
    in_parts(size, [&](std::size_t from, std::size_t until) {
        // A descriptor of its own has a position of its own; the first part has the file's.
        if (from == 0)
            return write_range(stream, bytes, from, until);
        Descriptor own{ {{- way.path_cpp() }}, {{ way.access_again_c() }}};
        if (::lseek(own.get(), static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
        Stream its_stream{own};
        write_range(its_stream, bytes, from, until);
        its_stream.close();
    });
{%- else %}
    write_range(stream, bytes, 0, size);
{%- endif %}
{%- if way.syncs_at_end() %}
    stream.sync();
{%- endif %}
    stream.close();
{%- endblock %}
