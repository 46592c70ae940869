{%- if way.maps_huge() %}
        # From Linux 5.18 on, the kernel maps large files at addresses where huge pages fit.
        with contextlib.suppress(OSError):  # a kernel without huge pages
            mapping.madvise(mmap.MADV_HUGEPAGE)
{%- endif %}
