{%- if case.syncs_at_end() %}
	// After an error, the data may be lost although a second call succeeds: write it again.
	return {{ case.sync_go() }}
{%- else if !case.ends_with_parts_go() %}
	return nil
{%- endif %}
