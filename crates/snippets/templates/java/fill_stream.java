
{%- if case.fills_with_zeros() %}
            fillWithZeros(file, expected{% if case.is_direct() %} / BLOCK * BLOCK{% endif %});
{%- endif %}
            {% if case.expects() %}long size = {% endif %}writeChunks({% if case.is_direct() %}{{ case.written_name() }}, {% endif %}file, source);
{%- if case.expects() %}
{%- if case.is_durable() && !case.syncs_at_end() %}
            if (size < expected) { // the data has ended early
                file.truncate(size);
                file.force({{ !case.is_fdatasync() }});
            }
{%- else %}
            if (size < expected) // the data has ended early
                file.truncate(size);
{%- endif %}
{%- endif %}
