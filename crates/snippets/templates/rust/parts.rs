{%- if case.threads() > 1 %}

/// Where a part begins: parts are whole {% if case.granule_rust() == "WINDOW" %}windows{% else %}chunks{% endif %} or pages.
fn border(size: usize, part: usize) -> usize {
{%- let least = case.least_granule_rust() %}
{%- if let Some(bytes) = case.page_granule_rust() && case.granule_rust() == "GRANULE" %}
    const GRANULE: usize = {{ bytes }}; // both
{%- endif %}
{%- if case.granule_rust() == least %}
    let granule = {{ least }};
{%- else if case.is_small_granule_rust() || least == "4096" %}
    let granule = {{ case.larger_granule_rust() }};
{%- else %}
    let granule = match size / THREADS {
        CHUNK.. => CHUNK,
        4096.. => 4096,
        _ => {{ least }},
    };
{%- endif %}
    (size.div_ceil(granule) * part / THREADS * granule).min(size)
}

/// Each part in a new thread, except for the first.
{{ case.parts_signature_rust() }} {
{%- if !case.copies() %}
    let size = data.len();
{%- endif %}
    let run = |part: usize{% if case.has_shared_map_rust() %}, map: &mut [u8]{% endif %}| {
        let (from, until) = (border(size, part), border(size, part + 1));
        if from == until {
            return Ok(());
        }
{%- if case.copies() || case.has_own_descriptors() %}
        if part == 0 {
            return {{ case.part_rust("file", "input") }};
        }
{%- endif %}
{%- if case.has_own_descriptors() %}
        // A new descriptor has its own position.
        let {% if case.is_at_position() %}mut {% endif %}file = {{ case.open_rust(false) }}?;
{%- if case.is_at_position() %}
        file.seek(SeekFrom::Start(from as u64))?;
{%- endif %}
{%- endif %}
{%- if case.copies() %}
        let mut input = File::open(source)?;
        input.seek(SeekFrom::Start(from as u64))?;
{%- endif %}
{%- if case.has_own_descriptors() %}
        {{ case.part_rust("&file", "&input") }}.and_then(|()| close(file))
{%- else %}
        {{ case.part_rust("file", "&input") }}
{%- endif %}
    };
    thread::scope(|scope| {
{%- if case.has_shared_map_rust() %}
        let (first, mut rest) = map.split_at_mut(border(size, 1));
        let mut threads = Vec::new();
        for part in 1..THREADS {
            let (map, others) = rest.split_at_mut(border(size, part + 1) - border(size, part));
            rest = others;
            threads.push(thread::Builder::new().spawn_scoped(scope, move || run(part, map))?);
        }
        let first = run(0, first);
{%- else %}
        let start = |part| thread::Builder::new().spawn_scoped(scope, move || run(part));
        let threads = (1..THREADS).map(start).collect::<io::Result<Vec<_>>>()?;
        let first = run(0);
{%- endif %}
        let others = threads
            .into_iter()
            .map(|thread| thread.join().expect("no part panics"));
        others.fold(first, Result::and)
    })
}
{%- endif %}
