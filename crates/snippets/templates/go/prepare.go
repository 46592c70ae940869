{%- if case.reserves() %}
	if err := {% if case.sets_length() %}file.Truncate({% if case.options.is_stream %}expected{% else %}int64({% include "go/size.go" %}){% endif %}){% else %}reserve(file, {% include "go/size.go" %}){% endif %}; err != nil {
		return err
	}
{%- endif %}
{%- if case.fills_with_zeros() %}
	if err := fillWithZeros(file, {% include "go/size.go" %}); err != nil {
		return err
	}
{%- endif %}
