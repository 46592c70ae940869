{% if case.copies() %}size{% else if case.streams() %}int(expected){% else %}len(data){% endif %}
