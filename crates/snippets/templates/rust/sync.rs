{%- if case.syncs_at_end() && !case.syncs_map() %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    rustix::fs::{{ case.sync_name() }}(file)?;
{%- endif %}
