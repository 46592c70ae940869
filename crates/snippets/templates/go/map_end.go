{%- if way.syncs_at_end() && !(way.has_own_maps() && way.syncs_map()) %}
	// After an error of this call, the data may be lost though a second call succeeds: write it anew.
	return {% if way.syncs_map() %}msync(file, mapping){% else %}{{ way.sync_go() }}{% endif %}
{%- else %}
	return nil
{%- endif %}
