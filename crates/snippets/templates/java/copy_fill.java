
            long size = input.size();
{%- if case.fills_with_zeros() %}
            fillWithZeros(file, size{% if case.is_direct() %} / BLOCK * BLOCK{% endif %});
{%- endif %}
{%- if case.threads() > 1 %}
            inParts(size, (from, until) -> copyOwnPart(source, input, {{ case.written_name() }}, file, from, until));
{%- else %}
            copyPart({% if case.is_direct() %}{{ case.written_name() }}, {% endif %}file, input, 0, size);
{%- endif %}
{%- if case.overwrites() %}
            file.truncate(size); // it may have been longer
{%- endif %}
{%- if case.syncs_at_end() %}
            file.force({{ !case.is_fdatasync() }}); // after its error, the data may be lost: write it again
{%- endif %}
