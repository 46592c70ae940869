{%- if case.is_nontemporal() %}

// Stores that bypass the CPU's caches: the data is not read again soon.
#if defined(__x86_64__)
[[gnu::target("sse2")]] void stream_lines(char *to, const char *from, std::size_t lines)
{
    for (; lines > 0; --lines, to += 64, from += 64)
        for (std::size_t i = 0; i < 64; i += 16)
            _mm_stream_si128(reinterpret_cast<__m128i *>(to + i),
                             _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
}

[[gnu::target("avx")]] void stream_lines_avx(char *to, const char *from, std::size_t lines)
{
    for (; lines > 0; --lines, to += 64, from += 64)
        for (std::size_t i = 0; i < 64; i += 32)
            _mm256_stream_si256(reinterpret_cast<__m256i *>(to + i),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i)));
}

[[gnu::target("avx512f")]] void stream_lines_avx512(char *to, const char *from, std::size_t lines)
{
    for (; lines > 0; --lines, to += 64, from += 64)
        _mm512_stream_si512(reinterpret_cast<__m512i *>(to), _mm512_loadu_si512(from));
}

void store(char *to, const char *from, std::size_t length)
{
    const std::size_t head = std::min(length, -reinterpret_cast<std::uintptr_t>(to) % 64);
    const std::size_t lines = (length - head) / 64, streamed = head + lines * 64;
    std::memcpy(to, from, head);
    if (__builtin_cpu_supports("avx512f"))
        stream_lines_avx512(to + head, from + head, lines);
    else if (__builtin_cpu_supports("avx"))
        stream_lines_avx(to + head, from + head, lines);
    else
        stream_lines(to + head, from + head, lines);
    std::memcpy(to + streamed, from + streamed, length - streamed);
    _mm_sfence();
}
#else
void store(char *to, const char *from, std::size_t length)
{
    std::memcpy(to, from, length); // this CPU's stores that bypass its caches are left out here
}
#endif
{%- endif %}
