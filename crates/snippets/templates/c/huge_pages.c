{%- if case.makes_huge_pages() %}

// Memory in huge pages, where the kernel has some. Returns an error number.
static int huge_pages(void **memory, size_t size)
{
    const size_t huge = 2 << 20, whole = (size + huge - 1) / huge * huge;
    const int error = posix_memalign(memory, huge, whole);
    if (error == 0)
        madvise(*memory, whole, MADV_HUGEPAGE);
    return error;
}
{%- endif %}
