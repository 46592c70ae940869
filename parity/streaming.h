/* A copy with stores that bypass the CPU's caches, as wide as the CPU has them. */
#ifndef PARITY_STREAMING_H
#define PARITY_STREAMING_H

typedef void copy(char *to, const char *from, size_t length);

static void plain_copy(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
}

#ifdef __x86_64__
#include <immintrin.h>

enum { LINE_BYTES = 64 };

/* The ends, which are no whole cache lines, are copied as usual. */
#define STREAMING_COPY(name, isa, vector, load, stream)                                          \
    __attribute__((target(isa))) static void name(char *to, const char *from, size_t length)     \
    {                                                                                            \
        size_t head = -(uintptr_t)to % LINE_BYTES;                                               \
        head = head < length ? head : length;                                                    \
        memcpy(to, from, head);                                                                  \
        to += head, from += head, length -= head;                                                \
        for (; length >= LINE_BYTES; length -= LINE_BYTES)                                       \
            for (size_t i = 0; i < LINE_BYTES; i += sizeof(vector), to += sizeof(vector),        \
                        from += sizeof(vector))                                                  \
                stream((vector *)to, load((const vector *)from));                                \
        memcpy(to, from, length);                                                                \
        _mm_sfence();                                                                            \
    }

STREAMING_COPY(copy_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128)
STREAMING_COPY(copy_avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256)
STREAMING_COPY(copy_avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static inline copy *streaming_copy(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return copy_avx512;
    return __builtin_cpu_supports("avx") ? copy_avx : copy_sse2;
}
#else
static inline copy *streaming_copy(void)
{
    errno = ENOTSUP;
    refuse("nontemporal stores of this CPU");
}
#endif

static inline copy *copy_of(const char *store)
{
    return strcmp(store, "nontemporal") == 0 ? streaming_copy() : plain_copy;
}
#endif
