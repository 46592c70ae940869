//! {{ case.name() }}
//!
{%- for line in case.about() %}
//! {{ line }}
{%- endfor %}
//!
{%- for line in case.errors("") %}
//! {{ line }}
{%- endfor %}
//! Edition 2024, and in Cargo.toml:
//! libc = "0.2"RUSTIX

IMPORTS

pub struct Log {
    file: File,
    state: Mutex<State>,
{%- if case.sync_every().is_some() %}
    is_synced: Condvar,
{%- endif %}
{%- if case.expects() %}
    expected: u64,
{%- endif %}
}

#[derive(Default)]
struct State {
    /// The end of all records.
    end: u64,
{%- if case.sync_every().is_some() %}
    /// The end of the durable records.
    durable: u64,
    is_syncing: bool,
{%- endif %}
{%- if case.reserves_ahead() %}
    reserved: u64,
{%- endif %}
    /// The number of the first error.
    error: Option<i32>,
}

impl Log {
    /// Makes a new file.{% if case.expects() %} Space for `expected` bytes is prepared. The file may become longer, and ends
    /// with its records.{% endif %}
    pub fn open(path: &Path{% if case.expects() %}, expected: u64{% endif %}) -> io::Result<Self> {
        let file = {% filter indent(4) %}{{ case.open_rust(true) }}{% endfilter %}?;
{%- if case.omits_checksums() %}
        omit_checksums(&file);
{%- endif %}
{%- if case.expects() %}
        prepare(&file, expected)
            .and_then(|()| sync_directory(path))
            .inspect_err(|_| {
                let _ = fs::remove_file(path);
            })?;
{%- else %}
        sync_directory(path).inspect_err(|_| {
            let _ = fs::remove_file(path);
        })?;
{%- endif %}
        Ok(Self {
            file,
            state: Mutex::default(),
{%- if case.sync_every().is_some() %}
            is_synced: Condvar::new(),
{%- endif %}
{%- if case.expects() %}
            expected,
{%- endif %}
        })
    }
{%- if case.sync_after_several().is_some() %}

    /// Any thread may call it. The record is durable after `sync`.
    pub fn append(&self, record: &[u8]) -> io::Result<()> {
        self.write(&mut self.lock(), record)
    }

    /// Makes all records so far durable. Threads that call it at the same time share a sync.
    pub fn sync(&self) -> io::Result<()> {
        self.sync_all(self.lock())
    }
{%- else if case.sync_every().is_some() %}

    /// Returns when the record is durable. Threads that call it at the same time share a sync.
    pub fn append(&self, record: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        self.write(&mut state, record)?;
        self.sync_all(state)
    }
{%- else %}

    /// Returns when the record is durable. Threads that call it at the same time take turns.
    pub fn append(&self, record: &[u8]) -> io::Result<()> {
        self.write(&mut self.lock(), record)
    }
{%- endif %}

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// The state is locked, so records follow each other.
    fn write(&self, state: &mut State, record: &[u8]) -> io::Result<()> {
        state.result()?;
        let {{ case.mut_rust() }}file = &self.file;
        let end = state.end + record.len() as u64;
{%- if case.reserves_ahead() %}
        let mut write = || {
            reserve_ahead(file, &mut state.reserved, end)?;
            {{ case.call_rust("record", "state.end") }}
        };
        let written = write();
{%- else %}
        let written = {{ case.call_rust("record", "state.end") }};
{%- endif %}
        // After an error, a part of the record may be in the file.
        written.inspect_err(|error| state.fail(error))?;
        state.end = end;
        Ok(())
    }
{%- if case.sync_every().is_some() %}

    /// Until all records so far are durable.
    fn sync_all<'a>(&'a self, mut state: MutexGuard<'a, State>) -> io::Result<()> {
        let end = state.end;
        while state.durable < end {
            state.result()?;
            if state.is_syncing {
                state = self.is_synced.wait(state).expect("no holder panics");
                continue;
            }
            // Other threads append meanwhile. The next sync is for their records.
            let synced = state.end;
            state.is_syncing = true;
            drop(state);
            let result = rustix::fs::{{ case.sync_name() }}(&self.file);
            state = self.lock();
            state.is_syncing = false;
            match result {
                Ok(()) => state.durable = synced,
                Err(error) => state.fail(&error.into()),
            }
            self.is_synced.notify_all();
        }
        Ok(())
    }
{%- endif %}

    /// After an error of an earlier call, it returns that error.
    pub fn close(self) -> io::Result<()> {
{%- if case.sync_after_several().is_some() %}
        self.sync()?;
{%- endif %}
        let state = self.state.into_inner().expect("no holder panics");
        state.result()?;
{%- if case.expects() %}
        if state.end < self.expected {
            self.file.set_len(state.end)?;
            rustix::fs::fdatasync(&self.file)?;
        }
{%- endif %}
{%- if case.reserves_ahead() %}
        self.file.set_len(state.end)?; // the file ends with its records
        rustix::fs::fdatasync(&self.file)?;
{%- endif %}
        close(self.file)
    }
}

impl State {
    fn fail(&mut self, error: &io::Error) {
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        self.error.get_or_insert(number);
    }

    fn result(&self) -> io::Result<()> {
        match self.error {
            None => Ok(()),
            Some(number) => Err(io::Error::from_raw_os_error(number)),
        }
    }
}
{%- if case.expects() %}

fn prepare(file: &File, expected: u64) -> io::Result<()> {
{%- if case.reserves() %}
    reserve(file, expected)
{%- else %}
    fill_with_zeros(file, expected)
{%- endif %}
}
{%- endif %}
{%- include "rust/omit_checksums.rs" %}
{%- include "rust/reserve.rs" %}
{%- include "rust/write_all.rs" %}
{%- include "rust/close.rs" %}
{%- include "rust/sync_directory.rs" %}
{%- if case.options.is_program %}

fn append_source(path: &Path, source: &mut impl Read{% if case.expects() %}, expected: u64{% endif %}) -> io::Result<()> {
    let log = Log::open(path{% if case.expects() %}, expected{% endif %})?;
    append_records(&log, source)
        .and_then(|()| log.close())
        .inspect_err(|_| {
            let _ = fs::remove_file(path);
        })
}

fn append_records(log: &Log, source: &mut impl Read) -> io::Result<()> {
    const RECORD: u64 = {{ case.chunk().unwrap_or_default() }};
    let mut record = Vec::new();
{%- if case.sync_after_several().is_some() %}
    let mut records = 0;
{%- endif %}
    while source.by_ref().take(RECORD).read_to_end(&mut record)? > 0 {
        log.append(&record)?;
        record.clear();
{%- if let Some(every) = case.sync_after_several() %}
        records += 1;
        if records % {{ every }} == 0 {
            log.sync()?;
        }
{%- endif %}
    }
    Ok(())
}
{%- endif %}
{%- include "rust/main.rs" %}
