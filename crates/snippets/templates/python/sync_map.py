{%- if way.syncs_at_end() %}
        # After an error of this call, the data may be lost though a second call succeeds: write it anew.
        {% if way.syncs_map() %}mapping.flush(){% else %}os.{{ way.sync_name() }}(fd){% endif %}
{%- endif %}
