{%- if case.is_nontemporal() %}

// Stores that bypass the CPU's caches: the data is not read again soon.
#if defined(__x86_64__)
__attribute__((target("sse2"))) static void stream_lines(char *to, const char *from, size_t lines)
{
    for (; lines > 0; --lines, to += 64, from += 64)
        for (size_t i = 0; i < 64; i += 16) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(from + i));
            _mm_stream_si128((__m128i *)(to + i), bytes);
        }
}

__attribute__((target("avx"))) static void stream_lines_avx(char *to, const char *from, size_t lines)
{
    for (; lines > 0; --lines, to += 64, from += 64)
        for (size_t i = 0; i < 64; i += 32) {
            const __m256i bytes = _mm256_loadu_si256((const __m256i *)(from + i));
            _mm256_stream_si256((__m256i *)(to + i), bytes);
        }
}

__attribute__((target("avx512f"))) static void stream_lines_avx512(char *to, const char *from, size_t lines)
{
    for (; lines > 0; --lines, to += 64, from += 64)
        _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(from));
}

static void store(char *to, const char *from, size_t length)
{
    const size_t to_line = -(uintptr_t)to % 64, head = to_line < length ? to_line : length;
    const size_t lines = (length - head) / 64, streamed = head + lines * 64;
    memcpy(to, from, head);
    if (__builtin_cpu_supports("avx512f"))
        stream_lines_avx512(to + head, from + head, lines);
    else if (__builtin_cpu_supports("avx"))
        stream_lines_avx(to + head, from + head, lines);
    else
        stream_lines(to + head, from + head, lines);
    memcpy(to + streamed, from + streamed, length - streamed);
    _mm_sfence();
}
#else
static void store(char *to, const char *from, size_t length)
{
    memcpy(to, from, length); // ordinary stores: this is not x86-64
}
#endif
{%- endif %}
