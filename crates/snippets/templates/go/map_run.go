{%- if !case.has_own_maps() %}
{%- include "go/mapped.go" %}
	{% if case.map_ends_with_parts_go() %}return{% else %}err ={% endif %} inParts({% include "go/size.go" %}, func(from, until int) error {
{%- else %}
	{% if case.map_ends_with_parts_go() %}return{% else %}err :={% endif %} inParts({% include "go/size.go" %}, func(from, until int) error {
{%- endif %}
{%- if case.has_own_descriptors() || case.has_own_input_go() %}
		return withOwn({{ case.files_go() }}, from, func({{ case.files_go() }} *os.File) error {
			return {% include "go/map_part.go" %}
		})
{%- else %}
		return {% include "go/map_part.go" %}
{%- endif %}
	})
{%- if !case.map_ends_with_parts_go() %}
	if err != nil {
		return err
	}
{%- endif %}
