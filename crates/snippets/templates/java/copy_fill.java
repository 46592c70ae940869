
            long size = input.size();
{%- if way.fills_with_zeros() %}
            fillWithZeros(file, size{% if way.is_direct() %} / BLOCK * BLOCK{% endif %});
{%- endif %}
{%- if way.threads() > 1 %}
            inParts(size, (from, until) -> copyOwnPart(source, input, {{ way.path_java() }}, file, from, until));
{%- else %}
            copyPart({% if way.is_direct() %}{{ way.path_java() }}, {% endif %}file, input, 0, size);
{%- endif %}
{%- if way.overwrites() %}
            file.truncate(size); // it may have been longer
{%- endif %}
{%- if way.syncs_at_end() %}
            file.force({{ !way.is_fdatasync() }}); // after its error, the data may be lost: write it anew
{%- endif %}
