{%- if case.is_direct() %}

// The end that is no whole block goes through the page cache.
void write_rest(int fd, const char *data, std::size_t from, std::size_t until)
{
    end_direct(fd);
    while (from < until)
        from += written_by("pwrite", ::pwrite(fd, data + from, until - from, static_cast<off_t>(from)));
{%- if case.sync_every().is_some() || case.is_rwf_dsync() %}
    if (::fdatasync(fd) != 0)
        fail("fdatasync");
{%- endif %}
}
{%- endif %}
