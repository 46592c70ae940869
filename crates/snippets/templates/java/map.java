{% extends "java/base.java" %}
{% block declarations %}
{%- if let Some(chunk) = case.chunk_java() %}
    private static final int CHUNK = {{ chunk }};
{%- endif %}
{%- endblock %}
{% block fill %}
            final int size = data.remaining();
{%- if case.threads() > 1 %}
            ByteBuffer all = data.slice();
{%- endif %}
{%- if case.fills_with_zeros() %}
            fillWithZeros(file, size);
{%- endif %}
{%- if case.has_own_maps() %}
{%- if !case.fills_with_zeros() %}
            if (size > 0) // the threads find the file as long as it will be
                file.map(READ_WRITE, size - 1, 1);
{%- endif %}
            inParts(size, (from, until) ->
                {% if case.has_own_descriptors() %}writeOwnPart({{ case.written_name() }}, {% else %}writeRange({% endif -%}
                file, all, (int) from, (int) (until - from)));
{%- else %}
{%- if case.sets_length() %}
            // Mapping a file that is shorter gives it this length.
{%- endif %}
            MappedByteBuffer map = file.map(READ_WRITE, 0, size);
{%- if case.threads() > 1 %}
            inParts(size, (from, until) -> {
                int begin = (int) from, length = (int) (until - from);
                writePart({% if case.syncs_file_on_the_way() %}file, {% endif %}map.slice(begin, length), all.slice(begin, length));
            });
{%- else %}
            writePart({% if case.syncs_file_on_the_way() %}file, {% endif %}map, data.slice());
{%- endif %}
{%- if case.syncs_at_end() && case.syncs_map() %}
            force(map, 0, size); // after its error, the data may be lost: write it again
{%- endif %}
{%- endif %}
{%- if case.syncs_at_end() && !case.syncs_map() %}
            file.force({{ !case.is_fdatasync() }}); // after its error, the data may be lost: write it again
{%- endif %}
{%- endblock %}
{% block helpers %}

    /** Stores the data into a mapping of its size. */
    private static void writePart({% if case.syncs_file_on_the_way() %}FileChannel file, {% endif %}MappedByteBuffer map, ByteBuffer data)
{%- if case.syncs_file_on_the_way() %}
            throws IOException
{%- else if case.sync_every().is_some() %} throws IOException
{%- endif %} {
{%- if case.sync_every().is_some() %}
        int chunks = 0{% if case.syncs_map() %}, synced = 0{% endif %};
{%- endif %}
{%- if case.chunk_java().is_none() && case.sync_every().is_none() %}
        map.put(0, data, 0, data.limit());
{%- else %}
        final int size = data.limit();
        for (int at = 0; at < size;) {
            int length = {% if case.chunk_java().is_some() %}Math.min(CHUNK, size - at){% else %}size - at{% endif %};
            map.put(at, data, at, length);
            at += length;
{%- if let Some(every) = case.sync_every() %}
            if (++chunks >= {{ every }} || at == size) {
                chunks = 0;
{%- if case.syncs_map() %}
                force(map, synced, at - synced);
                synced = at;
{%- else %}
                file.force({{ !case.is_fdatasync() }});
{%- endif %}
            }
{%- endif %}
        }
{%- endif %}
{%- if case.threads() > 1 %}
        Thread.yield(); // an InternalError comes with a native call: in the part, for its caller to see
{%- endif %}
    }
{%- if case.has_own_maps() %}

    /** Writes a part through its own mapping. */
    private static void writeRange(FileChannel file, ByteBuffer all, int from, int length) throws IOException {
        if (length == 0)
            return;
        MappedByteBuffer map = file.map(READ_WRITE, from, length);
        writePart({% if case.syncs_file_on_the_way() %}file, {% endif %}map, all.slice(from, length));
{%- if case.syncs_at_end() && case.syncs_map() %}
        force(map, 0, length); // after its error, the data may be lost: write it again
{%- endif %}
    }
{%- endif %}
{%- if case.has_own_descriptors() %}

    /** The same with a new descriptor. The first part uses the file's. */
    private static void writeOwnPart(Path path, FileChannel file, ByteBuffer all, int from, int length)
            throws IOException {
        if (from == 0) {
            writeRange(file, all, from, length);
            return;
        }
        try (FileChannel own = FileChannel.open(path, {{ case.options_again_java() }})) {
            writeRange(own, all, from, length);
        }
    }
{%- endif %}
{%- include "java/force.java" %}
{%- endblock %}
