{%- if way.is_dontcache() %}
    int flags = RWF_DONTCACHE{% if way.is_rwf_dsync() %} | RWF_DSYNC{% endif %};
{%- endif %}
{%- if way.sync_every().is_some() %}
    std::size_t chunks = 0; // since the last sync
{%- endif %}
{%- if way.writeback().is_some() %}
    WriteBehind behind{fd, {% if way.streams() %}0{% else %}from{% endif %}};
{%- endif %}
