
{%- if case.is_direct() %}
    const std::size_t whole = length / block_size * block_size;
    write_all(fd, buffer, whole{% if case.is_positional() %}, at{% endif %});
    if (whole < length) {
        // The end is less than a block, and takes the page cache.
        if (end_direct(fd) != 0)
            fail("fcntl");
        write_all(fd, buffer + whole, length - whole{% if case.is_positional() %}, at + whole{% endif %});
    }
{%- else %}
    write_all(fd, buffer, length{% if case.is_positional() %}, at{% endif %}{% if case.is_dontcache() %}, flags{% endif %});
{%- endif %}
