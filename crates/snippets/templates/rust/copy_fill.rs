

fn fill(file: &File, {% if case.has_own_descriptors() %}path: &Path, {% endif %}input: &File, {% if case.threads() > 1 %}source: &Path, {% endif %}size: usize) -> io::Result<()> {
{%- include "rust/prepare.rs" %}
{%- if case.threads() > 1 %}
    in_parts(file, {% if case.has_own_descriptors() %}path, {% endif %}input, source, size)?;
{%- else %}
    {{ case.copy_function() }}(file, input, 0, size)?;
{%- endif %}
{%- if case.overwrites() %}
    file.set_len(size as u64)?; // it may have been longer
{%- endif %}
{%- include "rust/sync.rs" %}
    Ok(())
}
