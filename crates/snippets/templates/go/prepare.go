{%- if case.reserves() %}
	if err := {% if case.is_set_len() %}file.Truncate({% if case.streams() %}expected{% else %}int64({{ case.size_go() }}){% endif %}){% else %}reserve(file, {{ case.size_go() }}){% endif %}; err != nil {
		return err
	}
{%- endif %}
{%- if case.fills_with_zeros() %}
	if err := fillWithZeros(file, {{ case.size_go() }}); err != nil {
		return err
	}
{%- endif %}
