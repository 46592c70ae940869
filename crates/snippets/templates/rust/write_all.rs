{%- if case.is_vectored() || case.has_flags() %}

/// Writes all bytes: a call may write fewer, and a signal may interrupt it.
{{ case.write_all_signature_rust() }} {
{%- if case.options.is_stream %}
    IoSlice::advance_slices(&mut vector, 0); // a vector of no bytes is empty
{%- endif %}
    while !vector.is_empty() {
        match rustix::io::{% if case.has_flags() %}pwritev2(file, vector, {% if case.is_positional() %}offset{% else %}u64::MAX{# at the file's position #}{% endif %}, {% if case.is_dontcache() %}*flags{% else %}ReadWriteFlags::DSYNC{% endif %})
{%- else %}{% if case.is_positional() %}pwritev(file, vector, offset){% else %}writev(file, vector){% endif %}{% endif %} {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
{%- if case.is_positional() %}
            Ok(written) => {
                IoSlice::advance_slices(&mut vector, written);
                offset += written as u64;
            }
{%- else %}
            Ok(written) => IoSlice::advance_slices(&mut vector, written),
{%- endif %}
            Err(Errno::INTR) => {}
{%- if case.is_dontcache() %}
            // Unsupported here: the page cache keeps the data.
            Err(Errno::OPNOTSUPP) if flags.contains(DONTCACHE) => flags.remove(DONTCACHE),
{%- endif %}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
{%- endif %}
