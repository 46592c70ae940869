{% if case.copies() %}size{% else if case.options.is_stream %}int(expected){% else %}len(data){% endif %}
