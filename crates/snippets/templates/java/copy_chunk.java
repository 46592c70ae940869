
{%- if let Some(chunk) = way.chunk_java() %}
    private static final int CHUNK = {{ chunk }};
{%- else if way.is(Method::ReadWrite) || way.is(Method::Pipeline) %}
    private static final int CHUNK = Integer.MAX_VALUE - 8191; // the most that a buffer holds, in pages
{%- else %}
    private static final int CHUNK = Integer.MAX_VALUE - 4095; // the most that Linux moves in a call
{%- endif %}
{%- if way.maps_source() || way.maps_target() %}
    private static final int MAP = {{ way.map_java() }}; // of larger files, so many bytes are one mapping
{%- endif %}
