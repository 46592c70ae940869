

    // Submits what was pushed, and waits for a completion or more.
    void wait()
    {
        int result;
        do
            result = io_uring_submit_and_wait(ring_.get(), 1);
        while (result == -EINTR);
        if (result < 0)
            fail("io_uring_enter", -result);
        unsigned head, count = 0;
        int error = 0;
        io_uring_cqe *cqe;
        io_uring_for_each_cqe(ring_.get(), head, cqe) {
            const int failed = completed(cqe->user_data, cqe->res);
            error = error == 0 ? failed : error;
            ++count;
        }
        io_uring_cq_advance(ring_.get(), count);
        in_flight_ -= count;
        if (error != 0)
            fail("io_uring", error);
    }

    // After an error, the kernel still uses the memory in flight.
    void drain()
    {
        for (auto left = in_flight_ - io_uring_sq_ready(ring_.get()); left > 0; --left) {
            io_uring_cqe *cqe;
            int result;
            do
                result = io_uring_wait_cqe(ring_.get(), &cqe);
            while (result == -EINTR);
            if (result != 0)
                return;
            io_uring_cqe_seen(ring_.get(), cqe);
        }
    }
{%- if case.registers_buffers() %}

    // The kernel pins it once, not for each call: see RLIMIT_MEMLOCK.
    // No buffer is larger than 1 GiB.
    void register_memory(char *start, std::size_t size)
    {
        registered_ = start;
        piece_ = std::max<std::size_t>(1, (std::size_t{1} << 30) / chunk_size) * chunk_size;
        std::vector<iovec> pieces;
        for (std::size_t at = 0; at < size; at += piece_)
            pieces.push_back({start + at, std::min(piece_, size - at)});
        const auto count = static_cast<unsigned>(pieces.size());
        if (const int error = -io_uring_register_buffers(ring_.get(), pieces.data(), count))
            fail("io_uring_register", error);
    }

    int piece_of(const char *bytes) const
    {
        return static_cast<int>(static_cast<std::size_t>(bytes - registered_) / piece_);
    }
{%- endif %}
