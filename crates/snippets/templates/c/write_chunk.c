
{%- if case.is_direct() %}
    ssize_t whole = length / BLOCK * BLOCK;
    if (write_all(fd, buffer, (size_t)whole{% if case.is_positional() %}, at{% endif %}) != 0)
        return -1;
    // The rest is less than a block: through the page cache.
    if (whole < length) {
        if (end_direct(fd) != 0)
            return -1;
        if (write_all(fd, buffer + whole, (size_t)(length - whole){% if case.is_positional() %}, at + whole{% endif %}) != 0)
            return -1;
    }
{%- else %}
    if (write_all(fd, buffer, (size_t)length{% if case.is_positional() %}, at{% endif %}) != 0)
        return -1;
{%- endif %}
