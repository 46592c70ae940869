{%- if case.is_nontemporal() %}

#if defined(__x86_64__)
// Stores that bypass the CPU's caches: the data is not read again soon.
#define STREAMING_COPY(name, isa, vector, load, stream)                                       \
    __attribute__((target(isa))) static void name(char *to, const char *from, size_t length)  \
    {                                                                                         \
        size_t head = -(uintptr_t)to % 64;                                                    \
        head = head < length ? head : length;                                                 \
        memcpy(to, from, head);                                                               \
        to += head, from += head, length -= head;                                             \
        for (; length >= 64; length -= 64)                                                    \
            for (size_t i = 0; i < 64; i += sizeof(vector), to += sizeof(vector),             \
                        from += sizeof(vector))                                               \
                stream((vector *)to, load((const vector *)from));                             \
        memcpy(to, from, length);                                                             \
        _mm_sfence();                                                                         \
    }

STREAMING_COPY(store_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128)
STREAMING_COPY(store_avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256)
STREAMING_COPY(store_avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static void store(char *to, const char *from, size_t length)
{
    if (__builtin_cpu_supports("avx512f"))
        store_avx512(to, from, length);
    else if (__builtin_cpu_supports("avx"))
        store_avx(to, from, length);
    else
        store_sse2(to, from, length);
}
#else
static void store(char *to, const char *from, size_t length)
{
    memcpy(to, from, length); // the stores of this CPU that bypass its caches are left out here
}
#endif
{%- else %}

static void store(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
}
{%- endif %}
