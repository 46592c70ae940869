{%- if case.syncs_at_end() %}
    // After an error of this call, the data may be lost though a second call succeeds: write it anew.
    return {{ case.sync_name() }}(fd);
{%- else %}
    return 0;
{%- endif %}
