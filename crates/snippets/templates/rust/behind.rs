{%- if case.writeback().is_some() %}

/// The range of the file that is being written out.
struct Behind {
    ended: u64,
    started: u64,
}

impl Behind {
    fn new(from: u64) -> Self {
        Self {
            ended: from,
            started: from,
        }
    }

    /// Starts the write-back of new data, and waits for the one before.
    fn reach(&mut self, file: &File, at: u64) -> io::Result<()> {
        if at - self.started < BEHIND {
            return Ok(());
        }
        sync_range(file, self.started, at, libc::SYNC_FILE_RANGE_WRITE)?;
        if self.ended < self.started {
            let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
                | libc::SYNC_FILE_RANGE_WRITE
                | libc::SYNC_FILE_RANGE_WAIT_AFTER;
            sync_range(file, self.ended, self.started, flags)?;
{%- if case.drops() %}
            let length = NonZeroU64::new(self.started - self.ended);
            let _ = rustix::fs::fadvise(file, self.ended, length, rustix::fs::Advice::DontNeed);
{%- endif %}
        }
        (self.ended, self.started) = (self.started, at);
        Ok(())
    }
}

fn sync_range(file: &File, from: u64, until: u64, flags: libc::c_uint) -> io::Result<()> {
    let (from, length) = (from as libc::off64_t, (until - from) as libc::off64_t);
    // SAFETY: the call takes numbers only.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), from, length, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
{%- endif %}
