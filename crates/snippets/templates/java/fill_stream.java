
{%- if way.fills_with_zeros() %}
            fillWithZeros(file, expected{% if way.is_direct() %} / BLOCK * BLOCK{% endif %});
{%- endif %}
            {% if way.expects() %}long size = {% endif %}writeChunks({% if way.is_direct() %}{{ way.path_java() }}, {% endif %}file, source);
{%- if way.expects() %}
{%- if way.is_durable() && !way.syncs_at_end() %}
            if (size < expected) { // the data has ended early
                file.truncate(size);
                file.force({{ !way.is_fdatasync() }});
            }
{%- else %}
            if (size < expected) // the data has ended early
                file.truncate(size);
{%- endif %}
{%- endif %}
