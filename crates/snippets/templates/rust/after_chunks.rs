{%- if case.calls_between_syncs_rust() > 1 %}
    if calls > 0 {
        rustix::fs::{{ case.sync_name() }}(file)?;
    }
{%- endif %}
