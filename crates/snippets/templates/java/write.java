{% extends "java/base.java" %}
{% block declarations %}
{%- if case.options.is_stream && case.chunk_java().is_none() %}
    private static final int CHUNK = Integer.MAX_VALUE - 8191; // the most that a buffer holds, in pages
{%- else if let Some(chunk) = case.chunk_java() %}
    private static final int CHUNK = {{ chunk }};
{%- endif %}
{%- if case.is_vectored() %}
    private static final int VECTOR = {{ case.choices().vector }}; // chunks per call
{%- endif %}
{%- endblock %}
{% block fill %}
{%- if case.options.is_stream %}
{%- include "java/fill_stream.java" %}
{%- else %}
{%- if case.threads() > 1 || case.is_direct() %}
            ByteBuffer all = data.slice();
{%- endif %}
{%- if case.is_direct() %}
            int whole = all.limit() / BLOCK * BLOCK;
{%- endif %}
{%- if case.fills_with_zeros() %}
            fillWithZeros(file, {% if case.is_direct() %}whole{% else %}data.remaining(){% endif %});
{%- endif %}
{%- if case.threads() > 1 %}
            inParts({% if case.is_direct() %}whole{% else %}all.limit(){% endif %}, (from, until) ->
                write{% if case.has_own_descriptors() %}Own{% endif -%}
                Part({% if case.has_own_descriptors() %}{{ case.written_name() }}, {% endif -%}
                file, all.duplicate().limit((int) until).position((int) from)));
{%- else if case.is_direct() %}
            writePart(file, all.duplicate().limit(whole));
{%- else %}
            writePart(file, data.slice());
{%- endif %}
{%- if case.is_direct() %}
            if (whole < all.limit())
                writeRest({{ case.written_name() }}, all.position(whole));
{%- endif %}
{%- endif %}
{%- if case.syncs_at_end() %}
            file.force({{ !case.is_fdatasync() }}); // after its error, the data may be lost: write it again
{%- endif %}
{%- endblock %}
{% block helpers %}
{%- if case.options.is_stream %}
{%- include "java/write_stream.java" %}
{%- include "java/write_all.java" %}
{%- include "java/aligned.java" %}
{%- else %}
{%- include "java/write_part.java" %}
{%- endif %}
{%- endblock %}
