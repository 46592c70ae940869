{%- if case.syncs_at_end() && !case.syncs_map() %}
    // After an error the data may be lost, though a second call succeeds: write it anew.
    rustix::fs::{{ case.sync_name() }}(file)?;
{%- endif %}
