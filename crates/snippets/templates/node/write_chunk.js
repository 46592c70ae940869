{%- if way.is_direct() %}
    const whole = length - (length % BLOCK);
{%- endif %}
    let written = 0;
    while (written < {{ way.chunk_end_node() }}) {
      written += some(fs.writeSync(fd, buffer, written, {{ way.chunk_end_node() }} - written, {% if way.is_positional() %}at + written{% else %}null{% endif %}));
    }
{%- if way.is_direct() %}
    if (whole < length) writeRest(fd, buffer.subarray(whole, length), at + whole);
{%- endif %}
