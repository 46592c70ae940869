{% if case.chunk().is_none() %}size{% else %}min({% if case.is_vectored() %}VECTOR * {% endif %}CHUNK, size){% endif %}
