{%- if case.copies() && case.is_direct() %}

/// The end of the file is less than a block.
fn write_direct(mut file: &File, data: &[u8]) -> io::Result<()> {
    let (whole, rest) = data.split_at(data.len() / BLOCK * BLOCK);
    file.write_all(whole)?;
    if rest.is_empty() {
        return Ok(());
    }
    end_direct(file)?;
    file.write_all(rest)
}
{%- endif %}
