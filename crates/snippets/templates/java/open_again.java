{% if case.is_direct() %}openDirect(path, Set.of({{ case.options_again_java() }}))
{%- else %}FileChannel.open(path, {{ case.options_again_java() }}){% endif %}
