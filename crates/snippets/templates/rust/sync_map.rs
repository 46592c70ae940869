{%- if case.syncs_at_end() && case.syncs_map() %}
    map.sync()?;
{%- endif %}
