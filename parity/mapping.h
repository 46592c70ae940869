/* Mappings of whole files, whose pages can be prepared a window at a time before they are used. */
#ifndef PARITY_MAPPING_H
#define PARITY_MAPPING_H

enum { HUGE_PAGE_BYTES = 2 << 20 };

#ifndef MADV_POPULATE_READ
enum { MADV_POPULATE_READ = 22, MADV_POPULATE_WRITE = 23 };
#endif
#ifndef MADV_COLLAPSE
enum { MADV_COLLAPSE = 25 };
#endif

/* How the pages of a mapping come about. */
struct pages {
    uint64_t window_bytes;
    int populates, collapses, advises;
};

/* With neither a window nor huge pages, all of the mapping is one window, in which nothing is prepared. */
static inline struct pages pages_of(const char *populate, const char *huge, uint64_t size_bytes,
                                    uint64_t window_bytes)
{
    struct pages pages = {.populates = strcmp(populate, "none") != 0,
                          .collapses = strcmp(huge, "collapse") == 0,
                          .advises = strcmp(huge, "advise") == 0};
    int by_window = pages.collapses || strcmp(populate, "window") == 0;
    pages.window_bytes = by_window ? window_bytes : size_bytes;
    return pages;
}

static inline void set_length(int file, uint64_t size_bytes)
{
    while (ftruncate(file, (off_t)size_bytes) != 0)
        if (errno != EINTR)
            die("ftruncate");
}

static inline char *map_shared(int file, uint64_t size_bytes, int protection)
{
    char *map = mmap(NULL, size_bytes, protection, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        die("mmap");
    return map;
}

/* At an address where huge pages fit. */
static inline char *map_for_huge_pages(int file, uint64_t size_bytes)
{
    uint64_t pages_bytes = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    uint64_t reserved = pages_bytes + HUGE_PAGE_BYTES;
    char *place = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        die("mmap of addresses");
    uint64_t before = -(uintptr_t)place % HUGE_PAGE_BYTES, after = reserved - before - pages_bytes;
    char *map = mmap(place + before, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    if (map == MAP_FAILED)
        die("mmap");
    if ((before > 0 && munmap(place, before) != 0) || (after > 0 && munmap(map + pages_bytes, after) != 0))
        die("munmap of addresses");
    return map;
}

/* A mapping to write to. */
static inline char *map_to_write(int file, uint64_t size_bytes, const struct pages *pages)
{
    if (!pages->collapses && !pages->advises)
        return map_shared(file, size_bytes, PROT_READ | PROT_WRITE);
    char *map = map_for_huge_pages(file, size_bytes);
    if (pages->advises && madvise(map, size_bytes, MADV_HUGEPAGE) != 0)
        refuse("MADV_HUGEPAGE");
    return map;
}

static inline void advise(char *from, size_t length, int advice, const char *call)
{
    while (madvise(from, length, advice) != 0) {
        if (errno == EINVAL)
            refuse(call);
        if (errno != EINTR)
            die(call);
    }
}

/* The kernel wants a page of each huge page to be there, so one byte of each is written first. */
static inline void collapse(char *map, uint64_t from, uint64_t end)
{
    uint64_t first = (from + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    end = end / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    for (uint64_t at = first; at < end; at += HUGE_PAGE_BYTES)
        *(volatile char *)(map + at) = 0;
    if (first < end)
        advise(map + first, end - first, MADV_COLLAPSE, "MADV_COLLAPSE");
}

/* The end of the window that begins at `from`; its pages are there now, to be written. */
static inline uint64_t prepare_window(char *map, uint64_t from, uint64_t end, const struct pages *pages)
{
    end = end - from < pages->window_bytes ? end : from + pages->window_bytes;
    if (pages->collapses)
        collapse(map, from, end);
    if (pages->populates)
        advise(map + from, end - from, MADV_POPULATE_WRITE, "MADV_POPULATE_WRITE");
    return end;
}
#endif
