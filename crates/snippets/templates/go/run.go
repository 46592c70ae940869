{#- All parts by all threads. #}
{%- if way.threads() > 1 %}
	{% if way.ends_with_parts_go() %}return{% else %}err :={% endif %} inParts({% if way.is_direct() && !way.copies() %}whole{% else %}{{ way.size_go() }}{% endif %}, func(from, until int) error {
{%- if way.has_own_descriptors() || way.has_own_input_go() %}
		return withOwn({{ way.files_go() }}, from, func({{ way.files_go() }} *os.File) error {
			return {{ way.part_of_thread_go() }}
		})
{%- else %}
		return {{ way.part_of_thread_go() }}
{%- endif %}
	})
{%- if !way.ends_with_parts_go() %}
	if err != nil {
		return err
	}
{%- endif %}
{%- else if way.ends_with_parts_go() %}
	return {{ way.part_go() }}
{%- else %}
	if err := {{ way.part_go() }}; err != nil {
		return err
	}
{%- endif %}
