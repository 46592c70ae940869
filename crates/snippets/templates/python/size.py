{% if case.copies() || case.maps_target() %}size{% else if case.options.is_stream %}expected{% else %}len(data){% endif %}
