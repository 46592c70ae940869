{%- if way.syncs_at_end() && !way.syncs_map() %}
    // After an error the data may be lost, though a second call succeeds: write it anew.
    rustix::fs::{{ way.sync_name() }}(file)?;
{%- endif %}
