{% extends "java/base.java" %}
{% block declarations %}
{%- include "java/copy_chunk.java" %}
{%- endblock %}
{% block fill %}
            final long size = input.size();
{%- if case.fills_with_zeros() %}
            fillWithZeros(file, size);
{%- endif %}
{%- if case.overwrites() %}
            file.truncate(size); // it may have been longer
{%- endif %}
{%- if case.has_own_maps() %}
{%- if !case.fills_with_zeros() %}
            if (size > 0) // the threads find the file as long as it will be
                file.map(READ_WRITE, size - 1, 1);
{%- endif %}
            inParts(size, (from, until) -> copyOwnPart(source, input
                {%- if case.has_own_descriptors() %}, {{ case.written_name() }}{% endif %}, file, from, until));
{%- else %}
            MappedByteBuffer[] maps = map(file, 0, size);
{%- if case.threads() > 1 %}
            inParts(size, (from, until) -> copyOwnPart(source, input, maps, from, until));
{%- else %}
            copyPart(maps, 0, input, 0, size);
{%- endif %}
{%- if case.syncs_at_end() && case.syncs_map() %}
            for (MappedByteBuffer map : maps)
                force(map, 0, map.capacity()); // after its error, the data may be lost: write it again
{%- endif %}
{%- endif %}
{%- if case.syncs_at_end() && !case.syncs_map() %}
            file.force({{ !case.is_fdatasync() }}); // after its error, the data may be lost: write it again
{%- endif %}
{%- endblock %}
{% block helpers %}

    /** Maps the bytes between two offsets. The last piece is the first: it gives the file its length. */
    private static MappedByteBuffer[] map(FileChannel file, long from, long until) throws IOException {
        MappedByteBuffer[] maps = new MappedByteBuffer[(int) ((until - from + MAP - 1) / MAP)];
        for (int i = maps.length - 1; i >= 0; i--) {
            long at = from + (long) i * MAP;
            maps[i] = file.map(READ_WRITE, at, Math.min(MAP, until - at));
        }
        return maps;
    }

    /** Copies the bytes between two offsets into mappings from `first` on.{% if case.is(Method::ReadMmap) %} The source is at its position `from`.{% endif %} */
    private static void copyPart(MappedByteBuffer[] maps, long first, FileChannel input, long from, long until)
            throws IOException {
        for (long at = from; at < until;) {
{%- if case.is(Method::MmapMmap) %}
            MappedByteBuffer map = maps[(int) ((at - first) / MAP)];
            int begin = (int) ((at - first) % MAP), length = (int) Math.min(map.capacity() - begin, until - at);
            MappedByteBuffer data = input.map(READ_ONLY, at, length);
            for (int done = 0; done < length;) {
                int chunk = Math.min(CHUNK, length - done);
                map.put(begin + done, data, done, chunk);
                done += chunk;
            }
            at += length;
{%- if case.threads() > 1 %}
            Thread.yield(); // an InternalError comes with a native call: in the part, for its caller to see
{%- endif %}
{%- else %}
            // Its own position: threads share the mapping.
            ByteBuffer map = maps[(int) ((at - first) / MAP)].duplicate();
            int begin = (int) ((at - first) % MAP), end = (int) Math.min(map.capacity(), begin + until - at);
            map.position(begin);
            while (map.position() < end) {
                map.limit(map.position() + Math.min(CHUNK, end - map.position()));
                if (input.read(map) < 0)
                    throw new EOFException("the source has become shorter");
            }
            at += end - begin;
{%- endif %}
        }
    }
{%- if case.threads() > 1 %}

    /** The same in a thread, with new descriptors. The first part uses the given ones. */
    private static void copyOwnPart(Path source, FileChannel input, {% if case.has_own_maps() -%}
        {% if case.has_own_descriptors() %}Path path, {% endif %}FileChannel file{% else %}MappedByteBuffer[] maps{% endif %}, long from, long until)
            throws IOException {
{%- if case.has_own_maps() %}
        if (from == 0) {
            copyRange(input, file, from, until);
            return;
        }
        try (FileChannel ownInput = FileChannel.open(source){% if case.has_own_descriptors() %};
                FileChannel own = FileChannel.open(path, {{ case.options_again_java() }}){% endif %}) {
            copyRange(ownInput.position(from), {% if case.has_own_descriptors() %}own{% else %}file{% endif %}, from, until);
        }
    }

    private static void copyRange(FileChannel input, FileChannel file, long from, long until) throws IOException {
        MappedByteBuffer[] maps = map(file, from, until);
        copyPart(maps, from, input, from, until);
{%- if case.syncs_at_end() && case.syncs_map() %}
        for (MappedByteBuffer map : maps)
            force(map, 0, map.capacity()); // after its error, the data may be lost: write it again
{%- endif %}
{%- else %}
        if (from == 0) {
            copyPart(maps, 0, input, from, until);
            return;
        }
        try (FileChannel own = FileChannel.open(source)) {
            copyPart(maps, 0, own.position(from), from, until);
        }
{%- endif %}
    }
{%- endif %}
{%- include "java/force.java" %}
{%- endblock %}
