{#- All parts by all threads. #}
{%- if case.threads() > 1 %}
	{% if case.ends_with_parts_go() %}return{% else %}err :={% endif %} inParts({% if case.is_direct() && !case.copies() %}whole{% else %}{% include "go/size.go" %}{% endif %}, func(from, until int) error {
{%- if case.has_own_descriptors() || case.has_own_input_go() %}
		return withOwn({{ case.files_go() }}, from, func({{ case.files_go() }} *os.File) error {
			return {% include "go/part_of_thread.go" %}
		})
{%- else %}
		return {% include "go/part_of_thread.go" %}
{%- endif %}
	})
{%- if !case.ends_with_parts_go() %}
	if err != nil {
		return err
	}
{%- endif %}
{%- else %}
	{% if case.ends_with_parts_go() %}return{% else %}if err :={% endif %} {% if case.keeps_holes() %}copyData(file, input, 0, size)
{%- else if case.copies() %}copyPart(file, input, {% if case.takes_offset_go() %}0, {% endif %}size)
{%- else %}writePart(file, data[:whole]{% if case.takes_offset_go() %}, 0{% endif %}){% endif %}
{%- if !case.ends_with_parts_go() %}; err != nil {
		return err
	}
{%- endif %}
{%- endif %}
