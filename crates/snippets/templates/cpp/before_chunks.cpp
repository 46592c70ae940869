{%- if case.is_dontcache() %}
    int flags = RWF_DONTCACHE{% if case.is_rwf_dsync() %} | RWF_DSYNC{% endif %};
{%- endif %}
{%- if case.sync_every().is_some() %}
    std::size_t chunks = 0; // since the last sync
{%- endif %}
{%- if case.writeback().is_some() %}
    WriteBehind behind{fd, {% if case.streams() %}0{% else %}from{% endif %}};
{%- endif %}
