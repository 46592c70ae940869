{%- include "c_family/border.c" %}

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
        other.get(); // throws its thread's error, and destructors wait for the others
}
