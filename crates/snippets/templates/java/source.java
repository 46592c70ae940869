{%- if case.copies() && case.chooses_mode() %}


    /** The mode of a new copy is its source's.{% if case.reopens_copy() %} The owner may read and write it until it is complete.{% endif %} */
    private static FileAttribute<?> modeOf(Path source) throws IOException {
{%- if case.reopens_copy() %}
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(source);
        mode.addAll(Set.of(OWNER_READ, OWNER_WRITE)); // it is opened again
        return PosixFilePermissions.asFileAttribute(mode);
{%- else %}
        return PosixFilePermissions.asFileAttribute(Files.getPosixFilePermissions(source));
{%- endif %}
    }
{%- endif %}
{%- if case.reopens_copy() %}

    private static void narrowMode(Path path, Path source) throws IOException {
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
        if (mode.retainAll(Files.getPosixFilePermissions(source)))
            Files.setPosixFilePermissions(path, mode);
    }
{%- endif %}
