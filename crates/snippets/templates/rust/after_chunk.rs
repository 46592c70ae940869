{%- if way.calls_between_syncs_rust() > 1 %}
        calls += 1;
        if calls == {{ way.calls_between_syncs_rust() }} {
            calls = 0;
            rustix::fs::{{ way.sync_name() }}(file)?;
        }
{%- else if way.sync_every().is_some() %}
        rustix::fs::{{ way.sync_name() }}(file)?;
{%- endif %}
{%- if way.writeback().is_some() %}
        behind.reach(file, offset)?;
{%- endif %}
