{% if case.main() %}Main{% else if case.copies() %}CopyFile{% else if case.streams() %}WriteStream{% else %}WriteFile{% endif %}
