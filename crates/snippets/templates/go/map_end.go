{%- if !case.map_ends_with_parts_go() %}
	// After an error of this call, the data may be lost though a second call succeeds: write it anew.
	return {% if case.syncs_map() %}msync(file, mapping){% else %}{{ case.sync_go() }}{% endif %}
{%- endif %}
