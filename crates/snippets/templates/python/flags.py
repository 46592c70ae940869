{%- if way.is_dontcache() %}
    flags = RWF_DONTCACHE{% if way.is_rwf_dsync() %} | os.RWF_DSYNC{% endif %}
{%- endif %}
