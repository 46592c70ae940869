{%- if way.calls_between_syncs_rust() > 1 %}
    if calls > 0 {
        rustix::fs::{{ way.sync_name() }}(file)?;
    }
{%- endif %}
