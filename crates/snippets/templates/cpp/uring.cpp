{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
constexpr std::size_t most_bytes = INT_MAX / 4096 * 4096; // of an entry
{% endblock %}
{% block helpers %}
{%- include "cpp/ring.cpp" %}
{%- if case.has_ring() %}
{%- include "c_family/write_plainly.c" %}
{%- endif %}

{%- if case.has_ring() %}

// Buffers between the producer and a ring.
class Queue {
public:
    Queue(Ring ring, int fd, char *memory) : ring_{std::move(ring)}, fd_{fd}, memory_{memory}
    {
        for (std::size_t i = 0; i < depth; ++i)
            free_[i] = depth - 1 - i;
        if (!ring_)
            return;
{%- if case.registers_buffers() %}
        register_memory(memory, depth * chunk_size);
{%- endif %}
{%- if case.registers_files() %}
        if (const int error = -io_uring_register_files(ring_.get(), &fd_, 1))
            fail("io_uring_register", error);
{%- endif %}
    }
    ~Queue()
    {
        if (ring_)
            drain();
    }
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    // Waits for a buffer that no write uses.
    char *take()
    {
        while (free_count_ == 0)
            wait();
        return memory_ + free_[free_count_ - 1] * chunk_size;
    }

    // The buffer that was taken last.
    void hand_over(const char *buffer, std::size_t at)
    {
        if (!ring_) {
            if (write_plainly(fd_, buffer, chunk_size, static_cast<off_t>(at)) != 0)
                fail("pwrite{% if let Some(call) = case.sync_without_ring() %} or {{ call }}{% endif %}");
            return;
        }
        const std::size_t slot = free_[--free_count_];
        chunks_[slot] = {at, chunk_size{% if case.is_dontcache() %}, true{% endif %}};
        push(slot);
    }

    // Waits for all writes.
    void finish()
    {
        while (free_count_ < depth)
            wait();
    }
{%- else %}

// Writes the bytes between two offsets through a ring.
class Queue {
public:
    Queue(Ring ring, int fd, const char *data, std::size_t from, std::size_t until)
        : {% if case.chunk().is_none() %}chunk_size{until - from}, {% endif %}ring_{std::move(ring)}, fd_{fd}, data_{data},
          next_{from}, until_{until}
    {
        for (std::size_t i = 0; i < depth; ++i)
            free_[i] = depth - 1 - i;
{%- if case.is_direct() %}
        // Unaligned data takes aligned buffers.
        constexpr std::size_t chunks = {% if case.chunk().is_some() %}depth{% else %}1{% endif %};
        if (reinterpret_cast<std::uintptr_t>(data) % block_size != 0)
            buffers_ = allocate({% if case.is_in_huge_pages() %}2 << 20{% else %}4096{% endif %}, chunks * chunk_size);
{%- endif %}
{%- if case.registers_buffers() %}
{%- if case.is_direct() %}
        if (buffers_)
            register_memory(buffers_.get(), chunks * chunk_size);
        else
            register_memory(const_cast<char *>(data + from), until - from);
{%- else %}
        register_memory(const_cast<char *>(data + from), until - from);
{%- endif %}
{%- endif %}
{%- if case.registers_files() %}
        if (const int error = -io_uring_register_files(ring_.get(), &fd_, 1))
            fail("io_uring_register", error);
{%- endif %}
    }
    ~Queue() { drain(); }
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    void run()
    {
        while (next_ < until_ || free_count_ < depth) {
            while (next_ < until_ && free_count_ > 0{% if let Some(every) = case.sync_after_several() %} && queued_ < {{ every }}{% endif %}) {
                const std::size_t slot = free_[--free_count_];
                chunks_[slot] = {next_, std::min(chunk_size, until_ - next_){% if case.is_dontcache() %}, true{% endif %}};
                next_ += chunks_[slot].left;
{%- if case.sync_after_several().is_some() %}
                ++queued_;
{%- endif %}
                push(slot);
            }
            wait();
{%- if let Some(every) = case.sync_after_several() %}
            // All queued chunks are written: now they become durable.
            if (free_count_ == depth && (queued_ >= {{ every }} || next_ == until_)) {
                queued_ = 0;
                push_sync(sync_data);
                wait();
            }
{%- endif %}
        }
    }
{%- endif %}

private:
    struct Chunk {
        std::size_t at, left;
{%- if case.is_dontcache() %}
        bool has_flag; // RWF_DONTCACHE
{%- endif %}
    };
{%- if case.sync_after_several().is_some() %}
    static constexpr std::uint64_t sync_data = UINT64_MAX; // where writes have their slot
{%- endif %}

    void push(std::size_t slot)
    {
        {% if !case.is_dontcache() %}const {% endif %}Chunk &chunk = chunks_[slot];
        io_uring_sqe *const write = io_uring_get_sqe(ring_.get());
        const char *bytes = {% if case.has_ring() %}memory_ + (slot + 1) * chunk_size - chunk.left{% else %}data_ + chunk.at{% endif %};
        const auto length = static_cast<unsigned>(std::min(chunk.left, most_bytes));
{%- if case.is_direct() && !case.has_ring() %}
        if (buffers_)
            bytes = static_cast<char *>(
                std::memcpy(buffers_.get() + slot * chunk_size, bytes, length));
{%- endif %}
{%- if case.registers_buffers() %}
        io_uring_prep_write_fixed(write, {% if case.registers_files() %}0{% else %}fd_{% endif %}, bytes, length, chunk.at, piece_of(bytes));
{%- else %}
        io_uring_prep_write(write, {% if case.registers_files() %}0{% else %}fd_{% endif %}, bytes, length, chunk.at);
{%- endif %}
{%- if case.is_dontcache() %}
        write->rw_flags = flags_;
        chunk.has_flag = flags_ & RWF_DONTCACHE;
{%- else if case.is_rwf_dsync() %}
        write->rw_flags = RWF_DSYNC;
{%- endif %}
        io_uring_sqe_set_data64(write, {% if case.sync_every() == Some(1) %}2 * {% endif %}slot);
{%- if case.registers_files() || case.sync_every() == Some(1) %}
        io_uring_sqe_set_flags(write, {% if case.registers_files() %}IOSQE_FIXED_FILE{% endif %}{% if case.registers_files() && case.sync_every() == Some(1) %} | {% endif %}{% if case.sync_every() == Some(1) %}IOSQE_IO_LINK{% endif %});
{%- endif %}
        ++in_flight_;
{%- if case.sync_every() == Some(1) %}
        push_sync(2 * slot + 1); // it begins when the write has ended
{%- endif %}
{%- if case.has_ring() %}
        // The producer's next chunk overlaps with this write.
        io_uring_submit(ring_.get());
{%- else if case.is_direct() %}
        // The copy of the next chunk overlaps with this write.
        if (buffers_)
            io_uring_submit(ring_.get());
{%- endif %}
    }
{%- if case.sync_every().is_some() %}

    void push_sync(std::uint64_t data)
    {
        io_uring_sqe *const sync = io_uring_get_sqe(ring_.get());
        io_uring_prep_fsync(sync, {% if case.registers_files() %}0{% else %}fd_{% endif %}, {% if case.is_fdatasync() %}IORING_FSYNC_DATASYNC{% else %}0{% endif %});
        io_uring_sqe_set_data64(sync, data);
{%- if case.registers_files() %}
        io_uring_sqe_set_flags(sync, IOSQE_FIXED_FILE);
{%- endif %}
        ++in_flight_;
    }
{%- endif %}

    // Takes a completion. Returns an error number.
    int completed(std::uint64_t data, int result)
    {
{%- if case.sync_after_several().is_some() %}
        if (data == sync_data)
            return -result;
{%- endif %}
{%- if case.sync_every() == Some(1) %}
        const std::size_t slot = data / 2;
        Chunk &chunk = chunks_[slot];
        if (data % 2 == 0)
            return written(chunk, result);
        // A write that fails or is short cancels its sync.
        if (result < 0 && !(result == -ECANCELED && chunk.left > 0))
            return -result;
{%- else %}
        const auto slot = static_cast<std::size_t>(data);
        Chunk &chunk = chunks_[slot];
        if (const int error = written(chunk, result))
            return error;
{%- endif %}
        if (chunk.left > 0)
            push(slot); // the rest of a short write
        else
            free_[free_count_++] = slot;
        return 0;
    }

    {% if !case.is_dontcache() %}static {% endif %}int written(Chunk &chunk, int result)
    {
{%- if case.is_dontcache() %}
        // Unsupported here: the page cache keeps the data.
        if (result == -EOPNOTSUPP && chunk.has_flag) {
            flags_ &= ~RWF_DONTCACHE;
            return 0;
        }
{%- endif %}
        if (result == -EINTR || result == -EAGAIN)
            return 0;
        if (result <= 0)
            return result < 0 ? -result : EIO; // 0: the next would also write nothing
        chunk.at += static_cast<std::size_t>(result);
        chunk.left -= static_cast<std::size_t>(result);
        return 0;
    }
{%- include "cpp/ring_wait.cpp" %}

{% if case.chunk().is_none() %}
    const std::size_t chunk_size;
{%- endif %}
{%- if case.is_direct() && !case.has_ring() %}
    Memory buffers_;
{%- endif %}
    const Ring ring_;
    const int fd_;
{%- if case.has_ring() %}
    char *const memory_;
{%- else %}
    const char *const data_;
    std::size_t next_;
    const std::size_t until_;
{%- endif %}
    std::array<Chunk, depth> chunks_;
    std::array<std::size_t, depth> free_;
    std::size_t free_count_ = depth;
    unsigned in_flight_ = 0; // entries without a completion
{%- if case.sync_after_several().is_some() %}
    std::size_t queued_ = 0; // chunks since the last sync
{%- endif %}
{%- if case.is_dontcache() %}
    int flags_ = RWF_DONTCACHE{% if case.is_rwf_dsync() %} | RWF_DSYNC{% endif %};
{%- endif %}
{%- if case.registers_buffers() %}
    const char *registered_ = nullptr;
    std::size_t piece_ = 0;
{%- endif %}
};
{%- if case.has_ring() %}
{%- include "cpp/write_stream.cpp" %}
{%- else %}
{%- include "c_family/write_plainly.c" %}

void write_range(int fd, const char *data, std::size_t from, std::size_t until)
{
    if (from == until)
        return;
    if (Ring ring = open_ring())
        Queue{std::move(ring), fd, data, from, until}.run();
    else if (write_plainly(fd, data + from, until - from, static_cast<off_t>(from)) != 0)
        fail("pwrite{% if let Some(call) = case.sync_without_ring() %} or {{ call }}{% endif %}");
}
{%- include "c_family/write_rest.c" %}
{%- endif %}
{% endblock %}
{% block fill %}
{%- if case.has_ring() %}
{%- include "cpp/fill_stream.cpp" %}
{%- else %}
{%- include "cpp/write_fill.cpp" %}
{%- endif %}
{%- endblock %}
