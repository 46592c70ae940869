{%- if case.threads() > 1 %}


    /** The same in a thread, with new descriptors. The first part uses the given ones. */
    private static void copyOwnPart(Path source, FileChannel input, Path path, FileChannel file, long from,
            long until) throws IOException {
        if (from == 0) {
            copyPart({% if case.is_direct() %}path, {% endif %}file, input, from, until);
            return;
        }
        try (FileChannel ownInput = FileChannel.open(source);
                FileChannel own = {% include "java/open_again.java" %}) {
            ownInput.position(from);
            own.position(from);
            copyPart({% if case.is_direct() %}path, {% endif %}own, ownInput, from, until);
        }
    }
{%- endif %}
