{%- if case.maps_huge() %}
    # The kernel chooses the address: from Linux 5.18 on, one where huge pages fit.
    with contextlib.suppress(OSError):  # a kernel without huge pages
        mapping.madvise(mmap.MADV_HUGEPAGE)
{%- endif %}
