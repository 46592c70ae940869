{%- if case.is_direct() %}
    const whole = length - (length % BLOCK);
{%- endif %}
    let written = 0;
    while (written < {{ case.chunk_end_node() }}) {
      written += some(fs.writeSync(fd, buffer, written, {{ case.chunk_end_node() }} - written, {% if case.is_positional() %}at + written{% else %}null{% endif %}));
    }
{%- if case.is_direct() %}
    if (whole < length) writeRest(fd, buffer.subarray(whole, length), at + whole);
{%- endif %}
