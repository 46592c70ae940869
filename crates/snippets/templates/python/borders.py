

def borders(size):
    """Where the threads begin and the last one ends, at whole chunks or pages."""
{%- if let Some(granule) = case.granule_python() %}
    granule = {{ granule }} if {{ granule }} <= size // THREADS else 4096
{%- else %}
    granule = 4096
{%- endif %}
    count = -(-size // granule)
    return [min(count * i // THREADS * granule, size) for i in range(THREADS + 1)]
