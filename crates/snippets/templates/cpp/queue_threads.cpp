

// Buffers between the producer and the writing threads.
class Queue {
public:
    explicit Queue(int fd) : fd_{fd}, memory_{allocate({% if case.is_in_huge_pages() %}2 << 20{% else %}4096{% endif %}, depth * chunk_size)}
    {
        for (std::size_t i = 0; i < depth; ++i)
            free_.push_back(memory_.get() + i * chunk_size);
    }
    ~Queue() { end(); }
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    void start()
    {
        for (auto &writer : writers_)
            writer = std::async(std::launch::async, [this] { write_chunks(); });
    }

    // Waits for a buffer that no thread writes.
    char *take()
    {
        std::unique_lock lock{mutex_};
        is_free_.wait(lock, [this] { return !free_.empty(); });
        if (error_)
            std::rethrow_exception(error_);
        char *const buffer = free_.back();
        free_.pop_back();
        return buffer;
    }

    void hand_over(char *buffer, std::size_t at)
    {
        {
            const std::lock_guard lock{mutex_};
            filled_.push_back({buffer, at});
        }
        is_filled_.notify_one();
    }

    // Waits for all writes.
    void finish()
    {
        end();
        if (error_)
            std::rethrow_exception(error_);
    }

private:
    struct Chunk {
        char *buffer;
        std::size_t at;
    };

    void write_chunks()
    {
{%- if case.is_dontcache() %}
        int flags = RWF_DONTCACHE{% if case.is_rwf_dsync() %} | RWF_DSYNC{% endif %};
{%- endif %}
        std::unique_lock lock{mutex_};
        for (;;) {
            is_filled_.wait(lock, [this] { return !filled_.empty() || ends_; });
            if (filled_.empty())
                return;
            const Chunk chunk = filled_.front();
            filled_.pop_front();
            std::exception_ptr error = error_;
            lock.unlock();
            try {
                if (!error)
                    write_all(fd_, chunk.buffer, chunk_size{% if case.is_positional() %}, chunk.at{% endif %}{% if case.is_dontcache() %}, flags{% endif %});
            } catch (...) {
                error = std::current_exception();
            }
            lock.lock();
            if (!error_)
                error_ = error;
            free_.push_back(chunk.buffer);
            is_free_.notify_one();
        }
    }

    void end()
    {
        {
            const std::lock_guard lock{mutex_};
            ends_ = true;
        }
        is_filled_.notify_all();
        for (auto &writer : writers_)
            if (writer.valid())
                writer.get();
    }

    const int fd_;
    const Memory memory_;
    std::mutex mutex_;
    std::condition_variable is_free_, is_filled_;
    std::vector<char *> free_;
    std::deque<Chunk> filled_;
    bool ends_ = false;
    std::exception_ptr error_; // the first of a write
    std::array<std::future<void>, writer_count> writers_;
};
