{% if case.copies() || case.maps_target() %}size{% else if case.streams() %}expected{% else %}len(data){% endif %}
