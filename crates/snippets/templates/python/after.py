{%- if way.overwrites() && way.copies() %}
    os.ftruncate(fd, size)  # the file may have been longer
{%- endif %}
{%- if way.syncs_at_end() %}
    # After an error of this call, the data may be lost though a second call succeeds: write it anew.
    os.{{ way.sync_name() }}(fd)
{%- endif %}
