
{%- if case.threads() > 1 %}
    in_parts(size, [&](std::size_t from, std::size_t until) {
        // A new descriptor has its own position. The first part uses the files'.
        if (from == 0)
            return {{ case.copy_function() }}(file.get(), input.get(), from, until);
        const Descriptor own_input{source, O_RDONLY{% if case.is_direct_on_both_sides() %} | O_DIRECT{% endif %}};
{%- if !case.is_uring() %}
        if (::lseek(own_input.get(), static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
{%- endif %}
{%- if case.has_own_descriptors() %}
        Descriptor own{ {{- case.path_cpp() }}, {{ case.access_flags()[0] }}{{ case.open_flags_c() }}};
{%- if case.is_at_position() %}
        if (::lseek(own.get(), static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
{%- endif %}
        {{ case.copy_function() }}(own.get(), own_input.get(), from, until);
        own.close();
{%- else %}
        {{ case.copy_function() }}(file.get(), own_input.get(), from, until);
{%- endif %}
    });
{%- else %}
    {{ case.copy_function() }}(file.get(), input.get(), 0, size);
{%- endif %}