{%- if !way.map_ends_with_parts_go() %}
	// After an error of this call, the data may be lost though a second call succeeds: write it anew.
	return {% if way.syncs_map() %}msync(file, mapping){% else %}{{ way.sync_go() }}{% endif %}
{%- endif %}
