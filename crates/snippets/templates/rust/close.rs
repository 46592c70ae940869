

/// Dropping a file would hide a late error of its filesystem, such as NFS.
fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor is the file's own, and is not used again.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()), // it is closed
        error => Err(error),
    }
}
