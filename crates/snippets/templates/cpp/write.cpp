{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}
{%- include "cpp/write_all.cpp" %}
{%- include "c_family/behind.c" %}
{%- if case.sync_every().is_some() %}

void make_durable(int fd)
{
    if (::{{ case.sync_name() }}(fd) != 0)
        fail("{{ case.sync_name() }}");
}
{%- endif %}
{%- if case.options.is_stream %}
{%- if case.has_writers() %}
{%- include "cpp/queue_threads.cpp" %}
{%- endif %}
{%- include "cpp/write_stream.cpp" %}
{%- else if !case.is_plain_cpp() %}

// Writes the bytes between two offsets{% if !case.is_positional() %}. The file's position is the first{% endif %}.
void write_range(int fd, const char *data, std::size_t from, std::size_t until)
{
{%- if case.chunk().is_none() %}
    const std::size_t chunk_size = until - from;
{%- endif %}
{%- if case.is_direct() %}
    // Unaligned data takes an aligned buffer.
    Memory buffer;
    if (reinterpret_cast<std::uintptr_t>(data) % block_size != 0)
        buffer = allocate({% if case.is_in_huge_pages() %}2 << 20{% else %}4096{% endif %}, {% if case.is_vectored() && case.chunk().is_some() %}vector_length * {% endif %}chunk_size);
{%- endif %}
{%- include "cpp/before_chunks.cpp" %}
    for (std::size_t at = from; at < until;) {
{%- if case.is_vectored() %}
        std::array<iovec, vector_length> vector;
        std::size_t count = 0, length = 0;
        for (; count < vector_length && at + length < until; ++count) {
            const std::size_t chunk = std::min(chunk_size, until - at - length);
            vector[count] = {const_cast<char *>(data + at + length), chunk};
            length += chunk;
        }
{%- if case.is_direct() %}
        if (buffer) {
            vector[0] = {std::memcpy(buffer.get(), data + at, length), length};
            count = 1;
        }
{%- endif %}
        write_all(fd, vector.data(), static_cast<int>(count){% if case.is_positional() %}, at{% endif %}{% if case.is_dontcache() %}, flags{% endif %});
{%- else %}
        const std::size_t length = std::min(chunk_size, until - at);
{%- if case.is_direct() %}
        const char *bytes = data + at;
        if (buffer)
            bytes = static_cast<char *>(std::memcpy(buffer.get(), bytes, length));
{%- endif %}
        write_all(fd, {% if case.is_direct() %}bytes{% else %}data + at{% endif %}, length{% if case.is_positional() %}, at{% endif %}{% if case.is_dontcache() %}, flags{% endif %});
{%- endif %}
        at += length;
{%- include "cpp/after_chunk.cpp" %}
    }
{%- include "cpp/after_chunks.cpp" %}
}
{%- endif %}
{%- if !case.options.is_stream %}
{%- include "c_family/write_rest.c" %}
{%- endif %}
{% endblock %}
{% block fill %}
{%- if case.options.is_stream %}
{%- include "cpp/fill_stream.cpp" %}
{%- else %}
{%- include "cpp/write_fill.cpp" %}
{%- endif %}
{%- endblock %}
