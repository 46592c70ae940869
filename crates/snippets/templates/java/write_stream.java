

    /** Writes all data of the source {% if case.is_positional() %}from the file's beginning on{% else %}where the file's position is{% endif %}, a chunk per call{% if case.expects() %}, and returns its size{% endif %}. */
    private static {% if case.expects() %}long{% else %}void{% endif %} writeChunks({% if case.is_direct() %}Path path, {% endif %}FileChannel file, ReadableByteChannel source)
            throws IOException {
        ByteBuffer buffer = pages(CHUNK);
{%- if case.sync_every().is_some() %}
        int chunks = 0;
{%- endif %}
{%- if case.ends_at_offset() %}
        long size = 0;
{%- endif %}
        do {
            buffer.clear().limit(CHUNK);
            while (buffer.hasRemaining()) // a chunk is shorter only at the end of the data
                if (source.read(buffer) < 0)
                    break;
            buffer.flip();
            writeAll({% if case.is_direct() %}path, {% endif %}file, buffer{% if case.is_positional() || case.is_direct() %}, size{% endif %});
{%- if case.ends_at_offset() %}
            size += buffer.limit();
{%- endif %}
{%- if let Some(every) = case.sync_every() %}
            if (buffer.limit() > 0 && ++chunks >= {{ every }}) {
                chunks = 0;
                file.force({{ !case.is_fdatasync() }});
            }
{%- endif %}
        } while (buffer.limit() == CHUNK);
{%- if case.sync_every().is_some() %}
        if (chunks > 0)
            file.force({{ !case.is_fdatasync() }});
{%- endif %}
{%- if case.expects() %}
        return size;
{%- endif %}
    }
