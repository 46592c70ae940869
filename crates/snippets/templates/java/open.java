{% if case.is_direct() %}openDirect({{ case.written_name() }}, Set.of({{ case.options_java() }}){% if case.options.is_atomic %}, mode{% else if case.chooses_mode() %}, modeOf(source){% endif %})
{%- else if case.options.is_atomic %}FileChannel.open(name, Set.of({{ case.options_java() }}), mode)
{%- else if case.chooses_mode() %}FileChannel.open(path, Set.of({{ case.options_java() }}), modeOf(source))
{%- else %}FileChannel.open(path, {{ case.options_java() }}){% endif %}
