{% if case.is_direct() %}openDirect({{ case.written_name() }}, Set.of({{ case.options_java() }}){% if case.atomic() %}, mode{% endif %})
{%- else if case.atomic() %}FileChannel.open(name, Set.of({{ case.options_java() }}), mode)
{%- else %}FileChannel.open(path, {{ case.options_java() }}){% endif %}
