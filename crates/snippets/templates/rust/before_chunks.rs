{%- if way.is_dontcache() %}
    let mut flags = DONTCACHE{% if way.is_rwf_dsync() %} | ReadWriteFlags::DSYNC{% endif %};
{%- endif %}
{%- if way.writeback().is_some() %}
    let mut behind = Behind::new(offset);
{%- endif %}
{%- if way.calls_between_syncs_rust() > 1 %}
    let mut calls = 0;
{%- endif %}
