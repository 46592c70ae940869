{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
constexpr std::size_t most_bytes = INT_MAX / 4096 * 4096; // of an entry
{% endblock %}
{% block helpers %}
{%- include "cpp/ring.cpp" %}

// Copies the bytes between two offsets through a ring.
class Queue {
public:
    Queue(Ring ring, int fd, int input, std::size_t from, std::size_t until)
        : {% if case.chunk().is_none() %}chunk_size{until - from}, {% endif %}buffers_{allocate(4096, chunk_count * chunk_size)},
          ring_{std::move(ring)}, fds_{input, fd}, next_{from}, until_{until}
    {
        for (std::size_t i = 0; i < depth; ++i)
            free_[i] = depth - 1 - i;
{%- if case.registers_buffers() %}
        register_memory(buffers_.get(), chunk_count * chunk_size);
{%- endif %}
{%- if case.registers_files() %}
        if (const int error = -io_uring_register_files(ring_.get(), fds_, 2))
            fail("io_uring_register", error);
{%- endif %}
    }
    ~Queue() { drain(); }
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    void run()
    {
        while (next_ < until_ || free_count_ < depth) {
            while (next_ < until_ && free_count_ > 0) {
                std::size_t length = std::min(chunk_size, until_ - next_);
{%- if case.is_direct() %}
                // With O_DIRECT lengths are whole blocks: the end of the file takes the page cache.
                if (length > block_size)
                    length = length / block_size * block_size;
                else if (length < block_size && (end_direct(fds_[READ]) != 0 || end_direct(fds_[WRITE]) != 0))
                    fail("fcntl");
{%- endif %}
                const std::size_t slot = free_[--free_count_];
                chunks_[slot] = {next_, length, 0, 0};
                next_ += length;
                push_both(slot);
            }
            wait();
        }
    }

private:
    enum Operation {
        READ,
        WRITE,
    };

    // It is read, then written.
    struct Chunk {
        std::size_t at, length, read, written;
    };

    // The write begins when the read has ended.
    void push_both(std::size_t slot)
    {
        push(slot, READ, IOSQE_IO_LINK);
        push(slot, WRITE, 0);
    }

    void push(std::size_t slot, Operation operation, unsigned flags)
    {
        const Chunk &chunk = chunks_[slot];
        const std::size_t done = operation == READ ? chunk.read : chunk.written;
        const auto length = static_cast<unsigned>(std::min(chunk.length - done, most_bytes));
        char *const bytes = buffers_.get() + slot * chunk_size + done;
        const int file = {% if case.registers_files() %}operation{% else %}fds_[operation]{% endif %};
        io_uring_sqe *const entry = io_uring_get_sqe(ring_.get());
        if (operation == READ)
            io_uring_prep_read{% if case.registers_buffers() %}_fixed{% endif %}(entry, file, bytes, length, chunk.at + done{% if case.registers_buffers() %}, piece_of(bytes){% endif %});
        else
            io_uring_prep_write{% if case.registers_buffers() %}_fixed{% endif %}(entry, file, bytes, length, chunk.at + done{% if case.registers_buffers() %}, piece_of(bytes){% endif %});
        io_uring_sqe_set_data64(entry, 2 * slot + operation);
        io_uring_sqe_set_flags(entry, flags{% if case.registers_files() %} | IOSQE_FIXED_FILE{% endif %});
        ++in_flight_;
    }

    // Takes a completion. Returns an error number.
    int completed(std::uint64_t data, int result)
    {
        const std::size_t slot = data / 2;
        Chunk &chunk = chunks_[slot];
        const bool again = result == -EINTR || result == -EAGAIN || result == -ECANCELED;
        if (result <= 0 && !again)
            return result < 0 ? -result : EIO; // 0: the source has become shorter
        const std::size_t done = again ? 0 : static_cast<std::size_t>(result);
        if (data % 2 == READ) {
            chunk.read += done;
            return 0; // the write continues, even if a short read has canceled it
        }
        chunk.written += done;
        if (chunk.read < chunk.length)
            push_both(slot);
        else if (chunk.written < chunk.length)
            push(slot, WRITE, 0);
        else
            free_[free_count_++] = slot;
        return 0;
    }
{%- include "cpp/ring_wait.cpp" %}

{% if case.chunk().is_none() %}
    const std::size_t chunk_size;
{%- endif %}
    static constexpr std::size_t chunk_count = {% if case.chunk().is_some() %}depth{% else %}1{% endif %};
    const Memory buffers_;
    const Ring ring_;
    const int fds_[2]; // the source and the copy
    std::size_t next_;
    const std::size_t until_;
    std::array<Chunk, depth> chunks_;
    std::array<std::size_t, depth> free_;
    std::size_t free_count_ = depth;
    unsigned in_flight_ = 0; // entries without a completion
{%- if case.registers_buffers() %}
    const char *registered_ = nullptr;
    std::size_t piece_ = 0;
{%- endif %}
};

{%- include "c_family/copy_plainly.c" %}

void copy_range(int fd, int input, std::size_t from, std::size_t until)
{
    if (from == until)
        return;
    if (Ring ring = open_ring())
        Queue{std::move(ring), fd, input, from, until}.run();
    else if (copy_plainly(fd, input, from, until) != 0)
        fail("pread or pwrite");
}
{% endblock %}
{% block fill %}
{%- include "cpp/copy_fill.cpp" %}
{%- endblock %}
