

// Fills the buffer with the next chunk. Only the last is shorter.
std::size_t next_chunk(const Producer &next, char *buffer)
{
    std::size_t length = 0;
    while (length < chunk_size) {
        const std::size_t got = next(buffer + length, chunk_size - length);
        if (got == 0)
            break;
        length += got;
    }
    return length;
}

// Writes the producer's data{% if case.expects() %}, and returns the number of its bytes{% endif %}.
{% if case.expects() %}std::size_t{% else %}void{% endif %} write_chunks(int fd, const Producer &next)
{
    const Memory buffer = allocate({% if case.is_in_huge_pages() %}2 << 20{% else %}4096{% endif %}, chunk_size);
    std::size_t {% if case.counts_bytes() %}at = 0, {% endif %}length;
{%- include "cpp/before_chunks.cpp" %}
    do {
        length = next_chunk(next, buffer.get());
{%- if case.is_direct() %}
        const std::size_t whole = length / block_size * block_size;
        write_all(fd, buffer.get(), whole{% if case.is_positional() %}, at{% endif %});
        if (whole < length) {
            // The end is less than a block, and takes the page cache.
            if (end_direct(fd) != 0)
                fail("fcntl");
            write_all(fd, buffer.get() + whole, length - whole{% if case.is_positional() %}, at + whole{% endif %});
        }
{%- else %}
        write_all(fd, buffer.get(), length{% if case.is_positional() %}, at{% endif %}{% if case.is_dontcache() %}, flags{% endif %});
{%- endif %}
{%- if case.counts_bytes() %}
        at += length;
{%- endif %}
{%- include "cpp/after_chunk.cpp" %}
    } while (length == chunk_size);
{%- include "cpp/after_chunks.cpp" %}
{%- if case.expects() %}
    return at;
{%- endif %}
}
