{% if case.options.is_program %}Main{% else if case.copies() %}CopyFile{% else if case.options.is_stream %}WriteStream{% else %}WriteFile{% endif %}
