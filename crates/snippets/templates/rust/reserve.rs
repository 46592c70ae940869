{%- if case.reserves() %}

/// Gives the file {% if case.sets_length() %}its length{% else if case.writes_zeroes() %}blocks that the device zeroes: overwriting them changes no metadata{% else %}its blocks: a full disk fails before any write{% endif %}.
fn reserve(file: &File, size: {% if case.options.is_stream %}u64{% else %}usize{% endif %}) -> io::Result<()> {
    if size == 0 {
        return Ok(()); // the call would refuse it
    }
{%- if case.sets_length() %}
    file.set_len({{ case.size_rust() }})
{%- else if case.choices().prepare == Prepare::PosixFallocate %}
    loop {
        // SAFETY: the call takes numbers only.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size as libc::off_t) } {
            0 => return Ok(()),
            libc::EINTR => {}
            // This filesystem cannot reserve blocks.
{%- if case.is_direct() %}
            // EINVAL: glibc's substitute writes single bytes, which O_DIRECT refuses.
            libc::EOPNOTSUPP | libc::EINVAL => return Ok(()),
{%- else if case.maps_target() %}
            libc::EOPNOTSUPP => return file.set_len({{ case.size_rust() }}),
{%- else %}
            libc::EOPNOTSUPP => return Ok(()),
{%- endif %}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
{%- else %}
{%- if case.writes_zeroes() %}
    // FALLOC_FL_WRITE_ZEROES, Linux 6.17.
{%- endif %}
    let mode = rustix::fs::FallocateFlags::{% if case.choices().prepare == Prepare::FallocateKeepSize %}KEEP_SIZE{% else if case.choices().prepare == Prepare::FallocateZeroRange %}ZERO_RANGE{% else if case.writes_zeroes() %}from_bits_retain(0x80){% else %}empty(){% endif %};
    match rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, mode, 0, {{ case.size_rust() }})) {
        // {% if case.writes_zeroes() %}This device or filesystem cannot do that{% else %}This filesystem cannot reserve blocks{% endif %}.
        Err(rustix::io::Errno::OPNOTSUPP) => {% if case.maps_target() %}file.set_len(size as u64){% else %}Ok(()){% endif %},
        result => Ok(result?),
    }
{%- endif %}
}
{%- endif %}
{%- if case.reserves_ahead() %}

/// Reserves blocks before a write up to `end`, many at a time: the file's length is not known yet.
fn reserve_ahead(file: &File, reserved: &mut u64, end: u64) -> io::Result<()> {
    const AHEAD: u64 = 64 << 20;
    if end <= *reserved {
        return Ok(());
    }
    let more = AHEAD.max(end - *reserved);
    let mode = rustix::fs::FallocateFlags::empty();
    match rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, mode, *reserved, more)) {
        // This filesystem cannot reserve blocks.
        Err(rustix::io::Errno::OPNOTSUPP) => *reserved = u64::MAX,
        result => *reserved += result.map(|()| more)?,
    }
    Ok(())
}
{%- endif %}
{%- if case.fills_with_zeros() %}

/// Writes zeros: overwriting written blocks changes no metadata.
fn fill_with_zeros(file: &File, size: {% if case.options.is_stream %}u64{% else %}usize{% endif %}) -> io::Result<()> {
    #[repr(align(4096))]
    struct Aligned([u8; 64 << 10]);
    static ZEROS: Aligned = Aligned([0; 64 << 10]);
    for at in (0..size).step_by(ZEROS.0.len()) {
{%- if case.options.is_stream %}
        let length = (size - at).min(ZEROS.0.len() as u64) as usize;
        file.write_all_at(&ZEROS.0[..length], at)?;
{%- else %}
        file.write_all_at(&ZEROS.0[..ZEROS.0.len().min(size - at)], at as u64)?;
{%- endif %}
    }
{%- if case.is_dontcache() %}
    rustix::fs::fsync(file)?;
    // RWF_DONTCACHE would keep pages of the zeros.
    let advice = rustix::fs::Advice::DontNeed;
    Ok(rustix::fs::fadvise(file, 0, None, advice)?)
{%- else %}
    Ok(rustix::fs::fsync(file)?)
{%- endif %}
}
{%- endif %}
