{%- if case.is_dontcache() %}
    flags = RWF_DONTCACHE{% if case.is_rwf_dsync() %} | os.RWF_DSYNC{% endif %}
{%- endif %}
