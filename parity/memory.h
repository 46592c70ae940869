/* Memory that a program needs, brought into the state that it should be in before the clock starts. */
#ifndef PARITY_MEMORY_H
#define PARITY_MEMORY_H

#include <sys/mman.h>

enum { PROBE_BYTES = 2 << 20, PAGE_BYTES = 4096 };

static char *probe_from;

static inline char *map_memory(uint64_t size_bytes)
{
    char *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap of memory");
    return memory;
}

/* Incompressible bytes, different in every block: splitmix64. */
static inline const char *make_source(uint64_t size_bytes)
{
    char *source = map_memory(size_bytes);
    uint64_t state = 0x77726974656265ull;
    for (uint64_t at = 0; at < size_bytes; at += sizeof state) {
        state += 0x9e3779b97f4a7c15ull;
        uint64_t word = state;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
        word ^= word >> 31;
        uint64_t rest = size_bytes - at;
        memcpy(source + at, &word, rest < sizeof word ? rest : sizeof word);
    }
    return source;
}

/* Keeps the compiler from dropping what was written to memory that nobody reads. */
static inline void use(const void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* Fresh memory in small pages or, where the kernel gives them, in huge ones: a file's pages come from both
 * kinds of free memory. */
static inline char *fresh_memory(uint64_t size_bytes, int huge)
{
    char *memory = map_memory(size_bytes);
    if (huge)
        (void)madvise(memory, size_bytes, MADV_HUGEPAGE); /* or both are small */
    return memory;
}

static inline void give_back(char *memory, uint64_t size_bytes)
{
    use(memory);
    if (munmap(memory, size_bytes) != 0)
        die("munmap of memory");
}

/* Time to copy 4 MiB into fresh memory: the state that the machine is in. */
static inline uint64_t probe_ns(void)
{
    uint64_t began = now_ns();
    for (int huge = 0; huge < 2; huge++) {
        char *probe_to = fresh_memory(PROBE_BYTES, huge);
        memcpy(probe_to, probe_from, PROBE_BYTES);
        give_back(probe_to, PROBE_BYTES);
    }
    return now_ns() - began;
}

static inline void make_probe(void)
{
    probe_from = map_memory(PROBE_BYTES);
    memset(probe_from, 1, PROBE_BYTES);
}

static inline void sync_filesystem(void)
{
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || syncfs(folder) != 0 || close(folder) != 0)
        die("syncfs");
}

/* Has the kernel, and the hypervisor below, hold as much free memory as the file and the probes take. */
static inline void warm_page_cache(uint64_t size_bytes)
{
    size_bytes += 8 * PROBE_BYTES;
    char *memory = fresh_memory(size_bytes, 1);
    for (uint64_t at = 0; at < size_bytes; at += PAGE_BYTES)
        memory[at] = 1;
    give_back(memory, size_bytes);
}

/* The last thing before the clock, in the order of writebench's engine. `source` is NULL where no data
 * is handed over. */
static inline void settle(const char *source, uint64_t size_bytes)
{
    make_probe();
    sync_filesystem();
    const volatile char *page = source;
    for (uint64_t at = 0; page != NULL && at < size_bytes; at += PAGE_BYTES)
        (void)page[at];
    warm_page_cache(size_bytes);
    probe_before_ns = probe_ns();
}
#endif
