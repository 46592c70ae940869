
{%- if case.is_plain_cpp() %}
{%- if case.chunk().is_none() %}
    write_all(file.get(), static_cast<const char *>(data), size{% if case.is_positional() %}, 0{% endif %});
{%- else %}
    const auto bytes = static_cast<const char *>(data);
    for (std::size_t at = 0; at < size; at += chunk_size)
        write_all(file.get(), bytes + at, std::min(chunk_size, size - at){% if case.is_positional() %}, at{% endif %});
{%- endif %}
{%- else %}
    const auto bytes = static_cast<const char *>(data);
{%- if case.is_direct() %}
    const std::size_t whole = size / block_size * block_size;
{%- endif %}
{%- if case.threads() > 1 %}
    in_parts({{ case.end_of_calls() }}, [&](std::size_t from, std::size_t until) {
{%- if case.has_own_descriptors() %}
        // A new descriptor has its own position. The first part uses the file's.
        if (from == 0)
            return write_range(file.get(), bytes, from, until);
        Descriptor own{ {{- case.path_cpp() }}, {{ case.access_flags()[0] }}{{ case.open_flags_c() }}};
{%- if case.is_at_position() %}
        if (::lseek(own.get(), static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
{%- endif %}
        write_range(own.get(), bytes, from, until);
        own.close();
{%- else %}
        write_range(file.get(), bytes, from, until);
{%- endif %}
    });
{%- else %}
    write_range(file.get(), bytes, 0, {{ case.end_of_calls() }});
{%- endif %}
{%- if case.is_direct() %}
    if (whole < size && write_rest(file.get(), bytes, whole, size) != 0)
        fail("pwrite{% if case.sync_every().is_some() || case.is_rwf_dsync() %} or fdatasync{% endif %}");
{%- endif %}
{%- endif %}