{%- if case.syncs_map() %}


    /** Makes a part of a mapping durable. */
    private static void force(MappedByteBuffer map, int from, int length) throws IOException {
        try {
            map.force(from, length);
        } catch (UncheckedIOException error) {
            throw error.getCause();
        }
    }
{%- endif %}
