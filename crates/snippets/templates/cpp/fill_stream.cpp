
{%- if case.expects() %}
    const std::size_t end = write_chunks(file.get(), next);
    if (end < expected && ::ftruncate(file.get(), static_cast<off_t>(end)) != 0)
        fail("ftruncate");
{%- else %}
    write_chunks(file.get(), next);
{%- endif %}
