{%- if !way.has_own_maps() %}
{%- include "go/mapped.go" %}
	{% if way.map_ends_with_parts_go() %}return{% else %}err ={% endif %} inParts({{ way.size_go() }}, func(from, until int) error {
{%- else %}
	{% if way.map_ends_with_parts_go() %}return{% else %}err :={% endif %} inParts({{ way.size_go() }}, func(from, until int) error {
{%- endif %}
{%- if way.has_own_descriptors() || way.has_own_input_go() %}
		return withOwn({{ way.files_go() }}, from, func({{ way.files_go() }} *os.File) error {
			return {{ way.map_part_go() }}
		})
{%- else %}
		return {{ way.map_part_go() }}
{%- endif %}
	})
{%- if !way.map_ends_with_parts_go() %}
	if err != nil {
		return err
	}
{%- endif %}
