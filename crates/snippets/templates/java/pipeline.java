{% extends "java/base.java" %}
{% block declarations %}
{%- include "java/copy_chunk.java" %}
    private static final int DEPTH = {{ case.choices().depth }}; // buffers in turn
    private static final ByteBuffer END = ByteBuffer.allocate(0);
{%- endblock %}
{% block fill %}
{%- include "java/copy_fill.java" %}
{%- endblock %}
{% block helpers %}

    /** Copies the bytes between two offsets. Both files are at their position `from`. */
    private static void copyPart({% if case.is_direct() %}Path path, {% endif %}FileChannel file, FileChannel input, long from, long until)
            throws IOException {
        // Buffers between the reading and the writing thread.
        BlockingQueue<ByteBuffer> full = new ArrayBlockingQueue<>(DEPTH + 1);
        BlockingQueue<ByteBuffer> empty = new ArrayBlockingQueue<>(DEPTH);
        for (int i = 0; i < DEPTH; i++)
            empty.add(pages((int) Math.min(CHUNK, until - from)));
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Future<Void> reader = pool.submit(() -> {
            try {
                for (long at = from; at < until;) {
                    ByteBuffer buffer = empty.take();
                    readAll(input, buffer.clear().limit((int) Math.min(CHUNK, until - at)));
                    at += buffer.flip().remaining();
                    full.add(buffer);
                }
                return null;
            } finally {
                full.add(END);
            }
        });
        try {
{%- if case.is_direct() %}
            long at = from;
            for (ByteBuffer buffer = full.take(); buffer != END; buffer = full.take()) {
                writeAll(path, file, buffer, at);
                at += buffer.limit();
                empty.add(buffer);
            }
{%- else %}
            for (ByteBuffer buffer = full.take(); buffer != END; buffer = full.take()) {
                writeAll(file, buffer);
                empty.add(buffer);
            }
{%- endif %}
            reader.get();
        } catch (ExecutionException error) {
            throw error.getCause() instanceof IOException cause ? cause : new IOException(error.getCause());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } finally {
            pool.shutdownNow();
        }
    }
{%- include "java/write_all.java" %}
{%- include "java/read_all.java" %}
{%- include "java/aligned.java" %}
{%- include "java/copy_part.java" %}
{%- endblock %}
