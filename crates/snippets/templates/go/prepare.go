{%- if way.reserves() %}
	if err := {% if way.is_set_len() %}file.Truncate({% if way.streams() %}expected{% else %}int64({{ way.size_go() }}){% endif %}){% else %}reserve(file, {{ way.size_go() }}){% endif %}; err != nil {
		return err
	}
{%- endif %}
{%- if way.fills_with_zeros() %}
	if err := fillWithZeros(file, {{ way.size_go() }}); err != nil {
		return err
	}
{%- endif %}
