{%- if case.sync_every().is_some() %}
    if (chunks > 0)
        make_durable(fd);
{%- endif %}
