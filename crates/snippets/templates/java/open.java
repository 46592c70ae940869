{% if case.is_direct() %}openDirect({{ case.written_name() }}, Set.of({{ case.options_java() }}){% if case.options.is_atomic %}, mode{% endif %})
{%- else if case.options.is_atomic %}FileChannel.open(name, Set.of({{ case.options_java() }}), mode)
{%- else %}FileChannel.open(path, {{ case.options_java() }}){% endif %}
