

    def copy_part(start, end):
        if start == 0:
            {% if case.keeps_holes() %}copy_extents(fd, original, 0, end){% else %}copy_range(fd, original, end{% if case.is(Method::MmapWrite) %}, 0{% endif %}){% endif %}
            return
        # New descriptors have their own positions.
        with open(source, "rb", buffering=0) as own_original:
            own_fd = {% if case.is_direct() %}open_file(path, os.O_WRONLY){% else %}os.open(path, os.O_WRONLY){% endif %}
            try:
{%- if case.keeps_holes() %}
                copy_extents(own_fd, own_original, start, end)
{%- else %}
                own_original.seek(start)
                os.lseek(own_fd, start, os.SEEK_SET)
                copy_range(own_fd, own_original, end - start{% if case.is(Method::MmapWrite) %}, start{% endif %})
{%- endif %}
            finally:
                os.close(own_fd)

    starts = borders(size)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(copy_part, starts, starts[1:]))  # raises the first error
