{#- All parts by all threads. #}
{%- if case.threads() > 1 %}
	{% if case.ends_with_parts_go() %}return{% else %}err :={% endif %} inParts({% if case.is_direct() && !case.copies() %}whole{% else %}{{ case.size_go() }}{% endif %}, func(from, until int) error {
{%- if case.has_own_descriptors() || case.has_own_input_go() %}
		return withOwn({{ case.files_go() }}, from, func({{ case.files_go() }} *os.File) error {
			return {{ case.part_of_thread_go() }}
		})
{%- else %}
		return {{ case.part_of_thread_go() }}
{%- endif %}
	})
{%- if !case.ends_with_parts_go() %}
	if err != nil {
		return err
	}
{%- endif %}
{%- else if case.ends_with_parts_go() %}
	return {{ case.part_go() }}
{%- else %}
	if err := {{ case.part_go() }}; err != nil {
		return err
	}
{%- endif %}
