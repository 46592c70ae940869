{%- let granule = case.granule() %}

// border is where a thread's part begins: at a whole {% if granule == "WINDOW" %}window{% else if granule == "CHUNK" %}chunk{% else %}page{% endif %}, or at a page.
func border(size, thread int) int {
	granule := {% if granule == "WINDOW" %}windowSize{% else if granule != "CHUNK" %}4096{% else if case.rounds_chunks_go() %}(chunkSize + 4095) / 4096 * 4096{% else %}chunkSize{% endif %}
	if granule > size/threads {
		granule = 4096
	}
	return min((size+granule-1)/granule*thread/threads*granule, size)
}

// inParts has each thread {% if case.copies() %}copy{% else %}write{% endif %} its own part.
func inParts(size int, run func(from, until int) error) error {
	var group sync.WaitGroup
	errs := make([]error, threads)
	for i := range threads {
		from, until := border(size, i), border(size, i+1)
		if from == until {
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			errs[i] = run(from, until)
		}()
	}
	group.Wait()
	return errors.Join(errs...)
}
{%- if case.has_own_descriptors() || case.has_own_input_go() %}

// withOwn runs a part with new descriptors, because each has a position. The first part uses the given ones.
func withOwn({{ case.files_go() }} *os.File, from int, run func({{ case.files_go() }} *os.File) error) error {
	if from == 0 {
		return run({{ case.files_go() }})
	}
{%- if case.has_own_input_go() %}
	input, err := os.Open(input.Name())
	if err != nil {
		return err
	}
	defer input.Close()
	if _, err := input.Seek(int64(from), io.SeekStart); err != nil {
		return err
	}
{%- endif %}
{%- if case.has_own_descriptors() %}
	file, err {% if case.has_own_input_go() %}={% else %}:={% endif %} {% if case.is_direct() %}openFile(file.Name(), {{ case.access_go(false) }}{% if case.chooses_mode() %}, 0{% endif %}){% else %}os.OpenFile(file.Name(), {{ case.access_go(false) }}, 0){% endif %}
	if err != nil {
		return err
	}
{%- if case.is_at_position() %}
	_, err = file.Seek(int64(from), io.SeekStart)
	if err == nil {
		err = run({{ case.files_go() }})
	}
{%- else %}
	err = run({{ case.files_go() }})
{%- endif %}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
{%- else %}
	return run({{ case.files_go() }})
{%- endif %}
}
{%- endif %}
