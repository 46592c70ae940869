
{%- if case.expects() %}
    const std::size_t end = write_chunks(file.get(), next);
    if (end < expected && ::ftruncate(file.get(), static_cast<off_t>(end)) != 0)
        fail("ftruncate");
{%- else if case.reserves_ahead() %}
    // The file ends with the data.
    if (::ftruncate(file.get(), static_cast<off_t>(write_chunks(file.get(), next))) != 0)
        fail("ftruncate");
{%- if case.is_durable() && !case.syncs_at_end() %}
    if (::fdatasync(file.get()) != 0)
        fail("fdatasync");
{%- endif %}
{%- else %}
    write_chunks(file.get(), next);
{%- endif %}
