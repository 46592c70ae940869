{%- if case.options.is_program %}

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [source, target] = &arguments[..] else {
        eprintln!("usage: p SOURCE TARGET");
        return ExitCode::from(2);
    };
    let failed = |path: &Path, error: io::Error| {
        eprintln!("{}: {error}", path.display());
        ExitCode::FAILURE
    };
{%- if case.options.is_stream %}
    let {% if case.expects() %}(mut input, expected){% else %}mut input{% endif %} = match {% if case.expects() %}open_with_size{% else %}File::open{% endif %}(source) {
        Ok(opened) => opened,
        Err(error) => return failed(source, error),
    };
{%- if case.meets_source() %}
    let is_own = |status: fs::Metadata| is_source(target, &status);
    if input.metadata().is_ok_and(is_own) {
        return failed(target, io::Error::other("the source is the same file"));
    }
{%- endif %}
{%- else if !case.copies() %}
    let mut memory = Vec::new();
    let data = match content_of(source, &mut memory) {
        Ok(data) => data,
        Err(error) => return failed(source, error),
    };
{%- endif %}
{%- if case.writes_set() %}
{%- if let Some(size) = case.file_size() %}
    const FILE_SIZE: usize = {{ size }};
    let contents: Vec<_> = data.chunks(FILE_SIZE).collect();
{%- else %}
    let mut contents = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let (content, others) = rest.split_at(rest.len().min(size_of_file(contents.len())));
        contents.push(content);
        rest = others;
    }
{%- endif %}
    let names: Vec<_> = (0..contents.len())
        .map(|number| PathBuf::from(format!("writebench{number:07}")))
        .collect();
    let files: Vec<_> = names.iter().map(PathBuf::as_path).zip(contents).collect();
{%- endif %}
    let start = Instant::now();
    if let Err(error) = {% if case.copies() %}copy_file(source, target)
{%- else if case.options.is_append %}append_source(target, &mut input{% if case.expects() %}, expected{% endif %})
{%- else if case.options.is_stream %}write_stream(target, &mut input{% if case.expects() %}, expected{% endif %})
{%- else if case.writes_set() %}write_files(target, &files)
{%- else %}write_file(target, data){% endif %} {
        return failed(target, error);
    }
    let line = format!("write {}\n", start.elapsed().as_nanos());
    // For `writebench run --command`: the time without the start and the reading of the source.
    if let Some(phases) = env::var("WRITEBENCH_PHASES_FD")
        .ok()
        .and_then(|fd| fd.parse().ok())
    {
        // SAFETY: the parent process has passed this descriptor.
        let mut phases = unsafe { File::from_raw_fd(phases) };
        if let Err(error) = phases.write_all(line.as_bytes()) {
            return failed(Path::new("WRITEBENCH_PHASES_FD"), error);
        }
    }
    ExitCode::SUCCESS
}
{%- if case.writes_set() %}
{%- if let Some((least, most)) = case.file_sizes() %}

/// The case's sizes of the files: evenly spread over the logarithm.
fn size_of_file(number: usize) -> usize {
    let (mut size, mut factor) = ({{ least }}.0_f64, {{ most }}.0_f64 / {{ least }}.0);
    let mut rest = number;
    while rest > 0 {
        factor = factor.sqrt();
        if rest % 2 == 1 {
            size *= factor;
        }
        rest /= 2;
    }
    size as usize
}
{%- endif %}
{%- endif %}
{%- if case.options.is_stream && case.expects() %}

/// A file and its size.
fn open_with_size(path: &Path) -> io::Result<(File, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}
{%- else if !case.copies() && !case.options.is_stream %}

/// The content of a file, in memory for O_DIRECT and huge pages.
fn content_of<'a>(path: &Path, memory: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    let mut file = File::open(path)?;
    let status = file.metadata()?;
    if !status.is_file() {
        return Err(io::Error::other("no regular file"));
    }
    let size = usize::try_from(status.len()).map_err(io::Error::other)?;
    let data = aligned(memory, size, 2 << 20);
    file.read_exact(data)?;
    // As in /proc.
    if file.read(&mut [0])? > 0 {
        return Err(io::Error::other("it is longer than its status says"));
    }
    Ok(data)
}
{%- endif %}
{%- endif %}
