

    /** Writes all data of the source {% if way.is_positional() %}from the file's beginning on{% else %}where the file's position is{% endif %}, a chunk per call{% if way.expects() %}, and returns its size{% endif %}. */
    private static {% if way.expects() %}long{% else %}void{% endif %} writeChunks({% if way.is_direct() %}Path path, {% endif %}FileChannel file, ReadableByteChannel source)
            throws IOException {
        ByteBuffer buffer = pages(CHUNK);
{%- if way.sync_every().is_some() %}
        int chunks = 0;
{%- endif %}
{%- if way.counts_bytes_java() %}
        long size = 0;
{%- endif %}
        do {
            buffer.clear().limit(CHUNK);
            while (buffer.hasRemaining()) // a chunk is shorter only at the end of the data
                if (source.read(buffer) < 0)
                    break;
            buffer.flip();
            writeAll({% if way.is_direct() %}path, {% endif %}file, buffer{% if way.is_positional() || way.is_direct() %}, size{% endif %});
{%- if way.counts_bytes_java() %}
            size += buffer.limit();
{%- endif %}
{%- if let Some(every) = way.sync_every() %}
            if (buffer.limit() > 0 && ++chunks >= {{ every }}) {
                chunks = 0;
                file.force({{ !way.is_fdatasync() }});
            }
{%- endif %}
        } while (buffer.limit() == CHUNK);
{%- if way.sync_every().is_some() %}
        if (chunks > 0)
            file.force({{ !way.is_fdatasync() }});
{%- endif %}
{%- if way.expects() %}
        return size;
{%- endif %}
    }
