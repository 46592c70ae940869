

struct CloseRing {
    void operator()(io_uring *ring) const
    {
        io_uring_queue_exit(ring);
        delete ring;
    }
};
using Ring = std::unique_ptr<io_uring, CloseRing>;

// A ring with two entries for each chunk, so that there is always one free.
// Null where io_uring is missing or forbidden, as in many containers.
Ring open_ring()
{
    auto ring = std::make_unique<io_uring>();
    const int error = -io_uring_queue_init(2 * depth, ring.get(), 0);
    if (error == ENOSYS || error == EPERM || error == ENOMEM)
        return nullptr;
    if (error != 0)
        fail("io_uring_setup", error);
    return Ring{ring.release()};
}
