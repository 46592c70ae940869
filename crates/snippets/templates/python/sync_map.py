{%- if way.syncs_at_end() %}
    # Not repeated after an error: the data may be lost though a second call succeeds.
    {% if way.syncs_map() %}mapping.flush(){% else %}os.{{ way.sync_name() }}(fd){% endif %}
{%- endif %}
