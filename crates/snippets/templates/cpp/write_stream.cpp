

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

// Writes the producer's data{% if case.returns_end() %}, and returns the number of its bytes{% endif %}.
{% if case.returns_end() %}std::size_t{% else %}void{% endif %} write_chunks(int fd, const Producer &next)
{
{%- if case.has_ring() %}
{%- if case.is_uring() %}
    const Memory memory = allocate({% if case.is_in_huge_pages() %}2 << 20{% else %}4096{% endif %}, depth * chunk_size);
    Queue queue{open_ring(), fd, memory.get()};
{%- else %}
    Queue queue{fd};
    queue.start();
{%- endif %}
{%- if case.reserves_ahead() %}
    off_t reserved = 0;
{%- endif %}
    std::size_t at = 0, length;
    char *buffer;
    for (;;) {
        buffer = queue.take();
        length = next_chunk(next, buffer);
{%- if case.reserves_ahead() %}
        if (reserve_ahead(fd, &reserved, static_cast<off_t>(at + length)) != 0)
            fail("fallocate");
{%- endif %}
        if (length < chunk_size)
            break;
        queue.hand_over(buffer, at);
        at += length;
    }
    queue.finish();
    // The end fills no buffer.
{%- if case.is_uring() %}
    if (length > 0 && write_plainly(fd, buffer, length, static_cast<off_t>(at)) != 0)
        fail("pwrite{% if let Some(call) = case.sync_without_ring() %} or {{ call }}{% endif %}");
{%- else %}
{%- if case.is_dontcache() %}
    int flags = RWF_DONTCACHE{% if case.is_rwf_dsync() %} | RWF_DSYNC{% endif %};
{%- endif %}
{%- include "cpp/write_chunk.cpp" %}
{%- endif %}
{%- if case.returns_end() %}
    at += length;
{%- endif %}
{%- else %}
    const Memory memory = allocate({% if case.is_in_huge_pages() %}2 << 20{% else %}4096{% endif %}, chunk_size);
    char *const buffer = memory.get();
{%- if case.reserves_ahead() %}
    off_t reserved = 0;
{%- endif %}
    std::size_t {% if case.counts_bytes() %}at = 0, {% endif %}length;
{%- include "cpp/before_chunks.cpp" %}
    do {
        length = next_chunk(next, buffer);
{%- if case.reserves_ahead() %}
        if (reserve_ahead(fd, &reserved, static_cast<off_t>(at + length)) != 0)
            fail("fallocate");
{%- endif %}
{%- filter indent(4) %}
{%- include "cpp/write_chunk.cpp" %}
{%- endfilter %}
{%- if case.counts_bytes() %}
        at += length;
{%- endif %}
{%- include "cpp/after_chunk.cpp" %}
    } while (length == chunk_size);
{%- include "cpp/after_chunks.cpp" %}
{%- endif %}
{%- if case.returns_end() %}
    return at;
{%- endif %}
}
