{%- if let Some(every) = way.sync_every() %}
        chunks += {% if way.is_vectored() %}count{% else if way.streams() %}length > 0{% else %}1{% endif %};
        if (chunks >= {{ every }}) {
            make_durable(fd);
            chunks = 0;
        }
{%- endif %}
{%- if way.writeback().is_some() %}
        behind.reached(at);
{%- endif %}
