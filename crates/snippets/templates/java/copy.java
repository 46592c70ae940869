{% extends "java/base.java" %}
{% block declarations %}
{%- include "java/copy_chunk.java" %}
{%- endblock %}
{% block fill %}
{%- include "java/copy_fill.java" %}
{%- endblock %}
{% block helpers %}

    /** Copies the bytes between two offsets. Both files are at their position `from`. */
    private static void copyPart({% if case.is_direct() %}Path path, {% endif %}FileChannel file, FileChannel input, long from, long until)
            throws IOException {
{%- if case.is(Method::ReadWrite) %}
        ByteBuffer buffer = pages((int) Math.min(CHUNK, until - from));
        for (long at = from; at < until; at += buffer.limit()) {
            readAll(input, buffer.clear().limit((int) Math.min(CHUNK, until - at)));
            writeAll({% if case.is_direct() %}path, {% endif %}file, buffer.flip(){% if case.is_direct() %}, at{% endif %});
        }
{%- else if case.is(Method::MmapWrite) %}
        for (long at = from; at < until;) {
            MappedByteBuffer map = input.map(READ_ONLY, at, Math.min(MAP, until - at));
            for (final int end = map.limit(); map.position() < end;) {
                int length = Math.min(CHUNK, end - map.position());
                writeAll({% if case.is_direct() %}path, {% endif %}file, map.limit(map.position() + length){% if case.is_direct() %}, at{% endif %});
                at += length;
            }
        }
{%- else %}
        for (long at = from; at < until;) {
            long moved = input.transferTo(at, Math.min(CHUNK, until - at), file);
            if (moved == 0)
                throw new EOFException("the source has become shorter");
            at += moved;
        }
{%- endif %}
    }
{%- if !case.is(Method::Sendfile) %}
{%- include "java/write_all.java" %}
{%- endif %}
{%- if case.is(Method::ReadWrite) %}
{%- include "java/read_all.java" %}
{%- include "java/aligned.java" %}
{%- endif %}
{%- include "java/copy_part.java" %}
{%- endblock %}
