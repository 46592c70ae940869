{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}
{%- include "cpp/write_all.cpp" %}
{%- include "c_family/behind.c" %}

// Buffers between the reading and the writing thread.
class Line {
public:
    struct Buffer {
        Memory memory;
        std::size_t length = 0;
    };

    explicit Line(std::size_t size)
    {
        for (Buffer &buffer : buffers_)
            buffer.memory = allocate(4096, size);
    }

    // The next buffer to fill. None after an error of the other thread.
    Buffer *empty()
    {
        const bool is_there = wait([this] { return filled_ - emptied_ < depth; });
        return is_there ? &buffers_[filled_ % depth] : nullptr;
    }

    // The next buffer to write. None after an error of the other thread.
    Buffer *full()
    {
        const bool is_there = wait([this] { return filled_ > emptied_; });
        return is_there ? &buffers_[emptied_ % depth] : nullptr;
    }

    void has_filled()
    {
        change([this] { ++filled_; });
    }

    void has_emptied()
    {
        change([this] { ++emptied_; });
    }

    void stop()
    {
        change([this] { has_stopped_ = true; });
    }

private:
    template <typename Condition>
    bool wait(Condition is_ready)
    {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return has_stopped_ || is_ready(); });
        return !has_stopped_;
    }

    template <typename Change>
    void change(Change change)
    {
        {
            const std::lock_guard lock{mutex_};
            change();
        }
        changed_.notify_one(); // the two never wait at the same time
    }

    std::array<Buffer, depth> buffers_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t filled_ = 0, emptied_ = 0; // since the beginning
    bool has_stopped_ = false;
};

// Runs one end of the line. An error stops the other one.
template <typename End>
void run(Line &line, End end)
{
    try {
        end();
    } catch (...) {
        line.stop();
        throw;
    }
}

// Copies the bytes between two offsets. Both files are at the position of the first.
void copy_range(int fd, int input, std::size_t from, std::size_t until)
{
{%- if case.chunk().is_none() %}
    const std::size_t chunk_size = until - from;
{%- endif %}
{%- if case.is_sequential() %}
    ::posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    ::posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
    Line line{std::min(chunk_size, until - from)};
    const auto read_all = [&] {
        for (std::size_t at = from; at < until;) {
            Line::Buffer *const buffer = line.empty();
            if (buffer == nullptr)
                return;
            ssize_t length;
            do
                length = ::read(input, buffer->memory.get(), std::min(chunk_size, until - at));
            while (length < 0 && errno == EINTR);
            if (length <= 0)
                fail("read", length == 0 ? EIO : errno); // 0: the source has become shorter
            buffer->length = static_cast<std::size_t>(length);
            at += buffer->length;
            line.has_filled();
        }
    };
    const auto write_out = [&] {
{%- if case.writeback().is_some() %}
        behind range{static_cast<off_t>(from), static_cast<off_t>(from)};
{%- endif %}
        for (std::size_t at = from; at < until;) {
            Line::Buffer *const buffer = line.full();
            if (buffer == nullptr)
                return;
            write_all(fd, buffer->memory.get(), buffer->length);
            at += buffer->length;
            line.has_emptied();
{%- if case.writeback().is_some() %}
            if (write_behind(fd, &range, static_cast<off_t>(at)) != 0)
                fail("sync_file_range");
{%- endif %}
        }
    };
    auto reader = std::async(std::launch::async, [&] { run(line, read_all); });
    run(line, write_out);
    reader.get(); // throws the reader's error
}
{% endblock %}
{% block fill %}
{%- include "cpp/copy_fill.cpp" %}
{%- endblock %}
