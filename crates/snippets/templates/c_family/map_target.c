{%- if case.maps_huge() %}

// Maps at an address where huge pages fit: as far from a multiple of 2 MiB as the offset is.
static void *map_file(int fd, size_t from, size_t length)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t huge = 2 << 20, before = from % huge, reserved = before + length + 2 * huge;
    void *const place = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return MAP_FAILED;
    char *const start = (char *)place;
    char *const at = start + (huge - (uintptr_t)place % huge) % huge + before;
    void *const map = mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)from);
    if (map == MAP_FAILED) {
        const int error = errno;
        munmap(place, reserved);
        errno = error;
        return MAP_FAILED;
    }
    char *const end = at + (length + page - 1) / page * page;
    if (at > start)
        munmap(place, (size_t)(at - start));
    munmap(end, (size_t)(start + reserved - end));
{%- if !case.huge_is_collapse() %}
    madvise(map, length, MADV_HUGEPAGE); // a kernel without huge pages refuses
{%- endif %}
    return map;
}
{%- else %}

static void *map_file(int fd, size_t from, size_t length)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
}
{%- endif %}
{%- if case.prepares_windows() %}

// Makes the pages present by a few calls instead of a fault for each. The kernel may refuse either.
static int prepare_window(char *map, size_t length)
{
{%- if case.huge_is_collapse() %}
    const size_t huge = 2 << 20, whole = length / huge * huge;
    for (size_t at = 0; at < whole; at += huge)
        map[at] = 0; // a page must be there before its huge page is made
    if (whole > 0)
        madvise(map, whole, MADV_COLLAPSE);
{%- endif %}
{%- if case.populates() %}
    // EFAULT stands for SIGBUS: the disk is full.
    while (madvise(map, length, MADV_POPULATE_WRITE) != 0)
        if (errno != EINTR)
            return errno == EINVAL ? 0 : -1;
{%- endif %}
    return 0;
}
{%- endif %}
