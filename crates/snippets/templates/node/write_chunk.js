{%- if case.is_direct() %}
    const whole = length - (length % BLOCK);
{%- endif %}
    let written = 0;
    while (written < {% if case.is_direct() %}whole{% else %}length{% endif %}) {
      written += some(fs.writeSync(fd, buffer, written, {% if case.is_direct() %}whole{% else %}length{% endif %} - written, {% if case.is_positional() %}at + written{% else %}null{% endif %}));
    }
{%- if case.is_direct() %}
    if (whole < length) writeRest(fd, buffer.subarray(whole, length), at + whole);
{%- endif %}
