

{% if case.is_positional() %}
    /** Writes the rest of a buffer to the same offset of the file, a chunk per call. */
{%- else if case.is_vectored() %}
    /** Writes the rest of a buffer where the file's position is, a vector of chunks per call. */
{%- else %}
    /** Writes the rest of a buffer where the file's position is, a chunk per call. */
{%- endif %}
    private static void writePart(FileChannel file, ByteBuffer data) throws IOException {
{%- if case.is_vectored() || case.is_direct() || case.chunk_java().is_some() %}
        final int end = data.limit();
{%- endif %}
{%- if case.is_direct() %}
        boolean isAligned = data.isDirect() && data.alignmentOffset(data.position(), BLOCK) == 0;
        ByteBuffer buffer = isAligned ? null : pages({% if case.chunk_java().is_none() %}data.remaining()
{%- else if case.is_vectored() %}(int) Math.min((long) VECTOR * CHUNK, data.remaining())
{%- else %}Math.min(CHUNK, data.remaining()){% endif %});
{%- endif %}
{%- if case.sync_every().is_some() %}
        int chunks = 0;
{%- endif %}
{%- if case.is_vectored() %}
        // The chunks of a vector, each a view of the data: made once, and moved on.
        ByteBuffer[] vector = new ByteBuffer[VECTOR];
{%- if case.is_direct() %}
        Arrays.setAll(vector, i -> (isAligned ? data : buffer).duplicate());
{%- else %}
        Arrays.setAll(vector, i -> data.duplicate());
{%- endif %}
        for (int at = data.position(); at < end;) {
{%- if case.is_direct() %}
            int from = at;
            if (!isAligned) {
                buffer.put(0, data, at, Math.min(buffer.limit(), end - at));
                from = 0;
            }
{%- endif %}
            int count = 0;
            while (count < VECTOR && at < end) {
                int length = {% if case.chunk_java().is_some() %}Math.min(CHUNK, end - at){% else %}end - at{% endif %};
{%- if case.is_direct() %}
                vector[count++].limit(from + length).position(from);
                from += length;
{%- else %}
                vector[count++].limit(at + length).position(at);
{%- endif %}
                at += length;
            }
            for (int first = 0; first < count;) { // a call may write less
                some(file.write(vector, first, count - first));
                while (first < count && !vector[first].hasRemaining())
                    first++;
            }
{%- else if case.is_direct() %}
        for (int at = data.position(); at < end;) {
{%- if case.chunk_java().is_some() %}
            data.limit(Math.min(CHUNK, end - at) + at);
{%- endif %}
            ByteBuffer from = isAligned ? data : buffer.clear().put(data).flip();
            while (from.hasRemaining()) // a call may write less
                at += some(file.write(from{% if case.is_positional() %}, at{% endif %}));
{%- else if case.chunk_java().is_some() %}
        while (data.position() < end) {
            data.limit(data.position() + Math.min(CHUNK, end - data.position()));
            while (data.hasRemaining()) // a call may write less
                some(file.write(data{% if case.is_positional() %}, data.position(){% endif %}));
{%- else %}
        while (data.hasRemaining()) { // a call may write less
            some(file.write(data{% if case.is_positional() %}, data.position(){% endif %}));
{%- endif %}
{%- if let Some(every) = case.sync_every() %}
            chunks += {% if case.is_vectored() %}count{% else %}1{% endif %};
            if (chunks >= {{ every }}) {
                chunks = 0;
                file.force({{ !case.is_fdatasync() }});
            }
{%- endif %}
        }
{%- if case.sync_every().is_some() %}
        if (chunks > 0)
            file.force({{ !case.is_fdatasync() }});
{%- endif %}
    }
{%- if case.has_own_descriptors() %}

    /** A new descriptor has its own position. The first part uses the file's. */
    private static void writeOwnPart(Path path, FileChannel file, ByteBuffer part) throws IOException {
        if (part.position() == 0) {
            writePart(file, part);
            return;
        }
        try (FileChannel own = {% include "java/open_again.java" %}) {
{%- if case.is_at_position() %}
            own.position(part.position());
{%- endif %}
            writePart(own, part);
        }
    }
{%- endif %}
{%- if case.is_direct() %}

    /** The rest is less than a block: through the page cache. */
    private static void writeRest(Path path, ByteBuffer rest) throws IOException {
        try (FileChannel file = FileChannel.open(path, {{ case.options_again_java() }})) {
            while (rest.hasRemaining())
                some(file.write(rest, rest.position()));
{%- if case.sync_every().is_some() %}
            file.force(false);
{%- endif %}
        }
    }
{%- include "java/aligned.java" %}
{%- endif %}
