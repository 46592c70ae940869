{%- if case.sets_length() %}
    os.ftruncate(fd, {% include "python/size.py" %})
{%- else if case.reserves() %}
    reserve(fd, {% include "python/size.py" %})
{%- endif %}
{%- if case.fills_with_zeros() %}
    fill_with_zeros(fd, {% include "python/size.py" %})
{%- endif %}
