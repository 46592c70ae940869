{%- if !case.map_ends_with_parts_go() %}
	// After an error, the data may be lost although a second call succeeds: write it again.
	return {% if case.syncs_map() %}msync(file, mapping){% else %}{{ case.sync_go() }}{% endif %}
{%- endif %}
