
{%- if let Some(chunk) = case.chunk_java() %}
    private static final int CHUNK = {{ chunk }};
{%- else if case.is(Method::ReadWrite) || case.is(Method::Pipeline) %}
    private static final int CHUNK = Integer.MAX_VALUE - 8191; // the most that a buffer holds, in pages
{%- else %}
    private static final int CHUNK = Integer.MAX_VALUE - 4095; // the most that Linux moves in a call
{%- endif %}
{%- if case.maps_source() || case.maps_target() %}
    private static final int MAP = {{ case.map_java() }}; // larger files have several mappings
{%- endif %}
