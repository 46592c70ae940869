{%- if case.maps_huge() %}

// Maps at an address where huge pages fit: as far from a multiple of 2 MiB as the offset is.
Mapping map_for_huge_pages(int fd, std::size_t from, std::size_t length)
{
    constexpr std::size_t huge = 2 << 20;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t skipped = from % page, mapped = skipped + length;
    const std::size_t before = (from - skipped) % huge, reserved = before + mapped + 2 * huge;
    void *const place = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        fail("mmap");
    char *const start = static_cast<char *>(place);
    const std::size_t to_huge = -reinterpret_cast<std::uintptr_t>(start) % huge;
    char *const at = start + to_huge + before;
    void *const map = ::mmap(at, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                             static_cast<off_t>(from - skipped));
    if (map == MAP_FAILED) {
        const int error = errno;
        ::munmap(place, reserved);
        fail("mmap", error);
    }
    char *const end = at + (mapped + page - 1) / page * page;
    if (at > start)
        ::munmap(start, static_cast<std::size_t>(at - start));
    ::munmap(end, static_cast<std::size_t>(start + reserved - end));
{%- if !case.huge_is_collapse() %}
    ::madvise(map, mapped, MADV_HUGEPAGE); // a kernel without huge pages refuses: small ones, then
{%- endif %}
    return {map, mapped, skipped};
}
{%- endif %}
{%- if case.prepares_windows_cpp() %}

// Makes pages present by a few calls instead of a fault for each. The kernel may refuse.
void prepare(char *map, std::size_t length)
{
{%- if case.huge_is_collapse() %}
    constexpr std::size_t huge = 2 << 20;
    const std::size_t whole = length / huge * huge;
    for (std::size_t at = 0; at < whole; at += huge)
        map[at] = 0; // a page must be there before its huge page is made
    if (whole > 0)
        ::madvise(map, whole, MADV_COLLAPSE);
{%- endif %}
{%- if case.populates() %}
    while (::madvise(map, length, MADV_POPULATE_WRITE) != 0) {
        if (errno == EINVAL)
            return; // older kernels
        if (errno != EINTR)
            fail("madvise(MADV_POPULATE_WRITE)"); // EFAULT stands for SIGBUS: the disk is full
    }
{%- endif %}
}
{%- endif %}
