{%- if way.syncs_at_end() %}
	// After an error of this call, the data may be lost though a second call succeeds: write it anew.
	return {{ way.sync_go() }}
{%- else if !way.ends_with_parts_go() %}
	return nil
{%- endif %}
