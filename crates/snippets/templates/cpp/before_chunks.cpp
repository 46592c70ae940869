{%- if case.is_dontcache() %}
    int flags = RWF_DONTCACHE{% if case.is_rwf_dsync() %} | RWF_DSYNC{% endif %};
{%- endif %}
{%- if case.sync_every().is_some() %}
    std::size_t chunks = 0; // since the last sync
{%- endif %}
{%- if case.writeback().is_some() %}
    behind range{ {%- if case.options.is_stream %}0, 0{% else %}static_cast<off_t>(from), static_cast<off_t>(from){% endif %}};
{%- endif %}
