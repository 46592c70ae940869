{%- if case.calls_between_syncs_rust() > 1 %}
        calls += 1;
        if calls == {{ case.calls_between_syncs_rust() }} {
            calls = 0;
            rustix::fs::{{ case.sync_name() }}(file)?;
        }
{%- else if case.sync_every().is_some() %}
        rustix::fs::{{ case.sync_name() }}(file)?;
{%- endif %}
{%- if case.writeback().is_some() %}
        behind.reach(file, offset)?;
{%- endif %}
