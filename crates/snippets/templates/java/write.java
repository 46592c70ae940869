{% extends "java/base.java" %}
{% block declarations %}
{%- if way.streams() && way.chunk_java().is_none() %}
    private static final int CHUNK = Integer.MAX_VALUE - 8191; // the most that a buffer holds, in pages
{%- else if let Some(chunk) = way.chunk_java() %}
    private static final int CHUNK = {{ chunk }};
{%- endif %}
{%- if way.is_vectored() %}
    private static final int VECTOR = {{ way.vector() }}; // chunks handed over in one call
{%- endif %}
{%- endblock %}
{% block fill %}
{%- if way.streams() %}
{%- include "java/fill_stream.java" %}
{%- else %}
{%- if way.threads() > 1 || way.is_direct() %}
            ByteBuffer all = data.slice();
{%- endif %}
{%- if way.is_direct() %}
            int whole = all.limit() / BLOCK * BLOCK;
{%- endif %}
{%- if way.fills_with_zeros() %}
            fillWithZeros(file, {% if way.is_direct() %}whole{% else %}data.remaining(){% endif %});
{%- endif %}
{%- if way.threads() > 1 %}
            inParts({% if way.is_direct() %}whole{% else %}all.limit(){% endif %}, (from, until) ->
                write{% if way.has_own_descriptors() %}Own{% endif -%}
                Part({% if way.has_own_descriptors() %}{{ way.path_java() }}, {% endif -%}
                file, all.duplicate().limit((int) until).position((int) from)));
{%- else if way.is_direct() %}
            writePart(file, all.duplicate().limit(whole));
{%- else %}
            writePart(file, data.slice());
{%- endif %}
{%- if way.is_direct() %}
            if (whole < all.limit())
                writeRest({{ way.path_java() }}, all.position(whole));
{%- endif %}
{%- endif %}
{%- if way.syncs_at_end() %}
            file.force({{ !way.is_fdatasync() }}); // after its error, the data may be lost: write it anew
{%- endif %}
{%- endblock %}
{% block helpers %}
{%- if way.streams() %}
{%- include "java/write_stream.java" %}
{%- include "java/write_all.java" %}
{%- include "java/aligned.java" %}
{%- else %}
{%- include "java/write_part.java" %}
{%- endif %}
{%- endblock %}
