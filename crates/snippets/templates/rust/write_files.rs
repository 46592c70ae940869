//! {{ case.name() }}
//!
{%- for line in case.about() %}
//! {{ line }}
{%- endfor %}
//!
{%- for line in case.errors("An error names the failed call and its file.") %}
//! {{ line }}
{%- endfor %}
//! Edition 2024, and in Cargo.toml:
//! libc = "0.2"RUSTIX

IMPORTS

const CHUNK: usize = {% if let Some(chunk) = case.chunk() %}{{ chunk }};{% else %}usize::MAX; // all in one call{% endif %}
{%- if case.threads() > 1 %}
const THREADS: usize = {{ case.threads() }};
{%- endif %}

/// The name of a file in the directory, and its content.
{% if case.writes_set() %}pub {% endif %}type FileData<'a> = (&'a Path, &'a [u8]);
{%- if !case.writes_set() %}

pub fn write_file(path: &Path, data: &[u8]) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let name = Path::new(path.file_name().ok_or(io::ErrorKind::IsADirectory)?);
    write_files(directory.unwrap_or(Path::new(".")), &[(name, data)])
}
{%- endif %}

{% if case.writes_set() %}pub {% endif %}fn write_files(path: &Path, files: &[FileData]) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))
        .map_err(failed("open", path))?;
{%- if case.has_other_name() %}
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let suffix = &format!(".{}.{}.tmp", std::process::id(), now.as_nanos());
{%- endif %}
{%- if case.has_other_name() && case.syncs_afterwards() %}
    {% if case.threads() > 1 %}in_parts{% else %}write_part{% endif %}(&directory, files, suffix)
{%- if case.syncs_filesystem() %}
        .and_then(|()| rustix::fs::syncfs(&directory).map_err(failed("syncfs", path)))
{%- endif %}
        // No file gets its name before its data is durable.
        .and_then(|()| {
            let mut files = files.iter();
            files.try_for_each(|(name, _)| give_name(&directory, &other_name(name, suffix), name))
        })
        .inspect_err(|_| {
            for (name, _) in files {
                let other = other_name(name, suffix);
                let _ = rustix::fs::unlinkat(&directory, other, AtFlags::empty());
            }
        })?;
{%- else %}
    {% if case.threads() > 1 %}in_parts{% else %}write_part{% endif %}(&directory, files{{ case.other("suffix") }})?;
{%- if case.syncs_filesystem() %}
    rustix::fs::syncfs(&directory).map_err(failed("syncfs", path))?;
{%- endif %}
{%- endif %}
{%- if case.is_durable() %}
    // Names are durable with their directory.
    rustix::fs::fsync(&directory).map_err(|error| match error {
        Errno::INVAL | Errno::BADF => {
            failed("fsync: the directory cannot be synced here:", path)(error)
        }
        _ => failed("fsync", path)(error),
    })?;
{%- endif %}
    Ok(())
}
{%- if case.threads() > 1 %}

fn in_parts(directory: &OwnedFd, files: &[FileData]{{ case.other("suffix: &str") }}) -> io::Result<()> {
    thread::scope(|scope| {
        let start = |part| {
            let write = move || write_part(directory, part{{ case.other("suffix") }});
            thread::Builder::new().spawn_scoped(scope, write)
        };
        let mut parts = files.chunks(files.len().div_ceil(THREADS).max(1));
        let first = parts.next().unwrap_or_default();
        let threads = parts.map(start).collect::<io::Result<Vec<_>>>()?;
        let first = write_part(directory, first{{ case.other("suffix") }});
        let others = threads
            .into_iter()
            .map(|thread| thread.join().expect("no part panics"));
        others.fold(first, Result::and)
    })
}
{%- endif %}

fn write_part(directory: &OwnedFd, files: &[FileData]{{ case.other("suffix: &str") }}) -> io::Result<()> {
    for (name, data) in files {
        write_one(directory, name, data{{ case.other("suffix") }})?;
    }
{%- if case.syncs_batch() %}
    for (name, _) in files {
{%- if case.has_other_name() %}
        let other = other_name(name, suffix);
{%- endif %}
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(directory, {% if case.has_other_name() %}&other{% else %}*name{% endif %}, flags, Mode::empty());
        let file = File::from(retry_on_intr(open).map_err(failed("open", name))?);
        // After an error, the data may be lost although a second call succeeds: write it again.
        rustix::fs::fsync(&file).map_err(failed("fsync", name))?;
        close(file).map_err(failed("close", name))?;
    }
{%- endif %}
    Ok(())
}

fn write_one(directory: &OwnedFd, name: &Path, data: &[u8]{{ case.other("suffix: &str") }}) -> io::Result<()> {
{%- if case.has_other_name() %}
    let other = &other_name(name, suffix);
{%- endif %}
    let flags = {{ case.set_flags("OFlags::").replace("O_", "").replace("CREAT ", "CREATE ") }} | OFlags::CLOEXEC;
{%- if case.options.is_atomic %}
    let old = rustix::fs::statat(directory, name, AtFlags::empty()).ok();
    let mode = Mode::from_raw_mode(old.as_ref().map_or(0o666, |old| old.st_mode & 0o777));
{%- else %}
    let mode = Mode::from_raw_mode(0o666);
{%- endif %}
    let open = || rustix::fs::openat(directory, {% if case.is_tmpfile() %}"."{% else %}{{ case.written("other", "name") }}{% endif %}, flags, mode);
    let {% if !case.removes_one() %}mut {% endif %}file = File::from(retry_on_intr(open).map_err(failed("open", name))?);
{%- if case.removes_one() %}
    let fill = |mut file: File| {
{%- filter indent(4) %}
{%- include "rust/fill_one.rs" %}
{%- endfilter %}
    };
{%- if case.has_other_name() && !case.syncs_afterwards() %}
    fill(file)
        .and_then(|()| give_name(directory, other, name))
        .inspect_err(|_| {
            let _ = rustix::fs::unlinkat(directory, other, AtFlags::empty());
        })
{%- else %}
    fill(file).inspect_err(|_| {
        let _ = rustix::fs::unlinkat(directory, {{ case.written("other", "name") }}, AtFlags::empty());
    })
{%- endif %}
{%- else %}
{%- include "rust/fill_one.rs" %}
{%- endif %}
}
{%- if case.options.is_atomic %}

/// Copies the mode of the replaced file, and its owner and group if permitted.
fn keep_mode(file: &File, old: &Stat) -> io::Result<()> {
    if old.st_mode & libc::S_IFMT != libc::S_IFREG {
        let what = "the target is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let _ = std::os::unix::fs::fchown(file, None, Some(old.st_gid))
        .and_then(|()| std::os::unix::fs::fchown(file, Some(old.st_uid), None));
    file.set_permissions(fs::Permissions::from_mode(old.st_mode & 0o777))
}
{%- endif %}
{%- if case.has_other_name() %}

/// The name until the file is complete.
fn other_name(name: &Path, suffix: &str) -> PathBuf {
    let mut other = name.as_os_str().to_owned();
    other.push(suffix);
    other.into()
}

fn give_name(directory: &OwnedFd, other: &Path, name: &Path) -> io::Result<()> {
{%- if case.exchanges() %}
    let exchange = RenameFlags::EXCHANGE;
    match rustix::fs::renameat_with(directory, other, directory, name, exchange) {
        // The old file has the other name.
        Ok(()) => {
            return rustix::fs::unlinkat(directory, other, AtFlags::empty())
                .map_err(failed("unlink", name));
        }
        // EINVAL: the filesystem cannot exchange names. ENOENT: there is no old file.
        Err(Errno::INVAL | Errno::NOENT) => {}
        Err(error) => return Err(failed("renameat2", name)(error)),
    }
{%- endif %}
    rustix::fs::renameat(directory, other, directory, name).map_err(failed("rename", name))
}
{%- endif %}

fn failed<E: Into<io::Error>>(call: &str, name: &Path) -> impl FnOnce(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{call} {}: {error}", name.display()))
    }
}
{%- if case.options.is_program %}
{%- include "rust/aligned.rs" %}
{%- endif %}
{%- include "rust/close.rs" %}
{%- include "rust/main.rs" %}
