

// Where part `i` begins. Parts are whole {{ case.granule_words_cpp() }}, as far as the file is large enough.
std::size_t border(std::size_t size, std::size_t i)
{
    std::size_t granule = {{ case.granule_cpp() }};
    if (granule > size / thread_count)
        granule = {% if case.needs_pages_cpp() %}4096{% else %}size / thread_count >= 4096 ? 4096 : 1{% endif %};
    const std::size_t granules = size / granule + (size % granule > 0);
    return std::min(size, granules * i / thread_count * granule);
}

// Runs `part(from, until)` for all parts of the file at the same time.
template <typename Part>
void in_parts(std::size_t size, const Part &part)
{
    std::array<std::future<void>, thread_count - 1> others;
    for (std::size_t i = 1; i < thread_count; ++i)
        others[i - 1] = std::async(std::launch::async, std::cref(part),
                                   border(size, i), border(size, i + 1));
    part(0, border(size, 1));
    for (auto &other : others)
        other.get(); // throws what its thread has thrown; destructors wait for the others
}
