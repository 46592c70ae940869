

    /** Writes the rest of a buffer. */
{%- if case.is_direct() %}
    private static void writeAll(Path path, FileChannel file, ByteBuffer data, long at) throws IOException {
        final int end = data.limit(), rest = data.remaining() % BLOCK;
        data.limit(end - rest);
        while (data.hasRemaining()) // a call may write less
            at += some(file.write(data{% if case.is_positional() %}, at{% endif %}));
        data.limit(end);
        if (rest > 0) {
            // The end of the file is less than a block: through the page cache.
            try (FileChannel plain = FileChannel.open(path, {{ case.options_again_java() }})) {
                while (data.hasRemaining())
                    at += some(plain.write(data, at));
            }
        }
    }
{%- else %}
    private static void writeAll(FileChannel file, ByteBuffer data{% if case.is_positional() %}, long at{% endif %}) throws IOException {
        while (data.hasRemaining()) // a call may write less
            {% if case.is_positional() %}at += some(file.write(data, at)){% else %}some(file.write(data)){% endif %};
    }
{%- endif %}
