{%- if let Some(every) = case.sync_every() %}
        chunks += {% if case.is_vectored() %}count{% else if case.options.is_stream %}length > 0{% else %}1{% endif %};
        if (chunks >= {{ every }}) {
            make_durable(fd);
            chunks = 0;
        }
{%- endif %}
{%- if case.writeback().is_some() %}
        if (write_behind(fd, &range, static_cast<off_t>(at)) != 0)
            fail("sync_file_range");
{%- endif %}
