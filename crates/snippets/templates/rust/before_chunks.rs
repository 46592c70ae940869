{%- if case.is_dontcache() %}
    let mut flags = DONTCACHE{% if case.is_rwf_dsync() %} | ReadWriteFlags::DSYNC{% endif %};
{%- endif %}
{%- if case.writeback().is_some() %}
    let mut behind = Behind::new(offset);
{%- endif %}
{%- if case.calls_between_syncs_rust() > 1 %}
    let mut calls = 0;
{%- endif %}
