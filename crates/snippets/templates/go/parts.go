

// border is where a thread's part begins: at a whole {{ way.granule_words_go() }}, or at a page.
func border(size, thread int) int {
	granule := {{ way.granule_go() }}
	if granule > size/threads {
		granule = 4096
	}
	return min((size+granule-1)/granule*thread/threads*granule, size)
}

// inParts has each thread {% if way.copies() %}copy{% else %}write{% endif %} its own part.
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
{%- if way.has_own_descriptors() || way.has_own_input_go() %}

// withOwn runs a part with descriptors of its own, which have positions of their own. The first has those given.
func withOwn({{ way.files_go() }} *os.File, from int, run func({{ way.files_go() }} *os.File) error) error {
	if from == 0 {
		return run({{ way.files_go() }})
	}
{%- if way.has_own_input_go() %}
	input, err := os.Open(input.Name())
	if err != nil {
		return err
	}
	defer input.Close()
	if _, err := input.Seek(int64(from), io.SeekStart); err != nil {
		return err
	}
{%- endif %}
{%- if way.has_own_descriptors() %}
	file, err {% if way.has_own_input_go() %}={% else %}:={% endif %} {% if way.is_direct() %}openFile(file.Name(), {{ way.access_again_go() }}{% if way.atomic() %}, 0{% endif %}){% else %}os.OpenFile(file.Name(), {{ way.access_again_go() }}, 0){% endif %}
	if err != nil {
		return err
	}
{%- if way.is_at_position() %}
	_, err = file.Seek(int64(from), io.SeekStart)
	if err == nil {
		err = run({{ way.files_go() }})
	}
{%- else %}
	err = run({{ way.files_go() }})
{%- endif %}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
{%- else %}
	return run({{ way.files_go() }})
{%- endif %}
}
{%- endif %}
