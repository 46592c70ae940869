
{%- if case.threads() > 1 %}
        borders = [len(files) * i // THREADS for i in range(THREADS + 1)]
        parts = [files[start:end] for start, end in itertools.pairwise(borders)]
        with ThreadPoolExecutor(THREADS) as pool:
            start = pool.submit
            runs = [start(write_part, directory, part{{ case.other("suffix") }}) for part in parts]
        for run in runs:
            run.result()  # raises the first error
{%- else %}
        write_part(directory, files{{ case.other("suffix") }})
{%- endif %}
