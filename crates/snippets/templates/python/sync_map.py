{%- if case.syncs_at_end() %}
    # Not repeated after an error: the data may be lost although a second call succeeds.
    {% if case.syncs_map() %}mapping.flush(){% else %}os.{{ case.sync_name() }}(fd){% endif %}
{%- endif %}
