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

/// The bytes of the head before each record: its length and a check, both little-endian.
const HEAD: usize = 8;
/// The log begins with a page of its own: this, a salt and their check. Another log's records, which a disk may
/// have kept in the same blocks, then have other checks.
const PAGE: usize = 4096;
const WHAT: &[u8; 8] = b"wb-log1\0";

pub struct Log {
    file: File,
    state: Mutex<State>,
    was_cut: bool,
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
    /// The check of the last record.
    check: u32,
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
    /// Makes a new log, or opens an old one: gives its records to the reader, and cuts what follows them.{% if case.expects() %}
    /// In a new log, space for `expected` bytes is prepared. The file may become longer, and ends with its records.{% endif %}
    ///
    /// # Errors
    /// `InvalidData`: the file is no log. `WouldBlock`: another process has it open.
{%- if case.expects() %}
    pub fn open(
        path: &Path,
        reader: impl FnMut(&[u8]) -> io::Result<()>,
        expected: u64,
    ) -> io::Result<Self> {
{%- else %}
    pub fn open(path: &Path, reader: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Self> {
{%- endif %}
        let opened = {% filter indent(4) %}{{ case.open_rust(true) }}{% endfilter %};
        let (file, is_new) = match opened {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut options = OpenOptions::new();
                options.read(true).write(true){{ case.custom_flags_rust() }};
                (options.open(path)?, false)
            }
            Err(error) => return Err(error),
        };
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let mut log = Self {
            file,
            state: Mutex::default(),
            was_cut: false,
{%- if case.sync_every().is_some() %}
            is_synced: Condvar::new(),
{%- endif %}
{%- if case.expects() %}
            expected: if is_new { expected } else { 0 },
{%- endif %}
        };
        if is_new {
            log.begin().inspect_err(|_| {
                let _ = fs::remove_file(path);
            })?;
        } else {
            log.recover(reader)?;
        }
        sync_directory(path)?;
        Ok(log)
    }

    /// Whether `open` has cut more than zeros: records that were not durable, or are damaged.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// A new log.
    fn begin(&mut self) -> io::Result<()> {
{%- if case.omits_checksums() %}
        omit_checksums(&self.file);
{%- endif %}
{%- if case.expects() %}
        prepare(&self.file, self.expected)?;
{%- endif %}
        self.write_first_page()
    }

    fn write_first_page(&mut self) -> io::Result<()> {
        let salt = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mut page = [0; PAGE];
        page[..8].copy_from_slice(WHAT);
        page[8..16].copy_from_slice(&(salt.as_nanos() as u64).to_le_bytes());
        let check = crc32c(&page[..16]);
        page[16..20].copy_from_slice(&check.to_le_bytes());
        let {{ case.mut_rust() }}file = &self.file;
        {{ case.call_rust("&page", "0") }}?;
{%- if case.sync_every().is_some() %}
        rustix::fs::{{ case.sync_name() }}(file)?;
{%- endif %}
        self.begin_at(PAGE as u64, check);
        Ok(())
    }

    /// All until there is durable.
    fn begin_at(&mut self, end: u64, check: u32) {
        self.state = Mutex::new(State {
            end,
            check,
{%- if case.sync_every().is_some() %}
            durable: end,
{%- endif %}
{%- if case.reserves_ahead() %}
            // Of a new log, the reservation begins with the first page.
            reserved: if end > PAGE as u64 { end } else { 0 },
{%- endif %}
            ..State::default()
        });
    }

    /// After a crash, a part of a record may be at the end, or zeros and a later record. They were never durable.
    fn recover(&mut self, reader: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        // The page cache may have data whose sync has failed: only what the disk has counts.
        rustix::fs::fdatasync(&self.file)?;
        rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed)?;
        let mut file = BufReader::new(&self.file);
        let mut page = Vec::new();
        file.by_ref().take(PAGE as u64).read_to_end(&mut page)?;
        let check = crc32c(&page[..page.len().min(16)]);
        if page.len() < PAGE || page[..8] != WHAT[..] || page[16..20] != check.to_le_bytes() {
            let is_file = self.file.metadata()?.is_file();
            if !is_file || page.iter().any(|&byte| byte != 0) || !is_zero(&mut file)? {
                let why = "the file is no log";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            self.file.set_len(0)?;
            (&self.file).rewind()?;
            return self.write_first_page();
        }
        let (end, check) = read_records(&mut file, check, reader)?;
        (&self.file).seek(SeekFrom::Start(end))?;
        self.was_cut = !is_zero(&mut BufReader::new(&self.file))?;
        self.file.set_len(end)?;
        rustix::fs::fdatasync(&self.file)?;
        (&self.file).seek(SeekFrom::Start(end))?;
        self.begin_at(end, check);
        Ok(())
    }
{%- if case.sync_after_several().is_some() %}

    /// Any thread may call it. The record is durable after `sync`.
    pub fn append(&self, record: &[u8]) -> io::Result<()> {
        let (mut bytes, crc) = with_head(record)?;
        self.write(&mut self.lock(), &mut bytes, crc)
    }

    /// Makes all records so far durable. Threads that call it at the same time share a sync.
    pub fn sync(&self) -> io::Result<()> {
        self.sync_all(self.lock())
    }
{%- else if case.sync_every().is_some() %}

    /// Returns when the record is durable. Threads that call it at the same time share a sync.
    pub fn append(&self, record: &[u8]) -> io::Result<()> {
        let (mut bytes, crc) = with_head(record)?;
        let mut state = self.lock();
        self.write(&mut state, &mut bytes, crc)?;
        self.sync_all(state)
    }
{%- else %}

    /// Returns when the record is durable. Threads that call it at the same time take turns.
    pub fn append(&self, record: &[u8]) -> io::Result<()> {
        let (mut bytes, crc) = with_head(record)?;
        self.write(&mut self.lock(), &mut bytes, crc)
    }
{%- endif %}

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// The state is locked, so records follow each other.
    fn write(&self, state: &mut State, bytes: &mut [u8], crc: u32) -> io::Result<()> {
        state.result()?;
        let (length, check) = bytes[..HEAD].split_at_mut(4);
        let next = check_after(state.check, length, crc);
        check.copy_from_slice(&next.to_le_bytes());
        let {{ case.mut_rust() }}file = &self.file;
        let end = state.end + bytes.len() as u64;
{%- if case.reserves_ahead() %}
        let mut write = || {
            reserve_ahead(file, &mut state.reserved, end)?;
            {{ case.call_rust("bytes", "state.end") }}
        };
        let written = write();
{%- else %}
        let written = {{ case.call_rust("bytes", "state.end") }};
{%- endif %}
        // After an error, a part of the record may be in the file.
        written.inspect_err(|error| state.fail(error))?;
        state.end = end;
        state.check = next;
        Ok(())
    }
{%- if case.sync_every().is_some() %}

    /// Returns when all records so far are durable.
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

/// The bytes of a record in the file, without its check, and its own CRC-32C. One call writes them.
fn with_head(record: &[u8]) -> io::Result<(Vec<u8>, u32)> {
    let length = u32::try_from(record.len())
        .ok()
        .filter(|&length| length > 0);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?; // 0 is that of prepared zeros
    let mut bytes = Vec::with_capacity(HEAD + record.len());
    bytes.extend(length.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(record);
    Ok((bytes, crc32c(record)))
}

/// It contains the check before, so no record of an earlier time is taken for the next one.
fn check_after(before: u32, length: &[u8], crc: u32) -> u32 {
    crc32c(&[&before.to_le_bytes(), length, &crc.to_le_bytes()].concat())
}

/// Returns the end and the check of the last whole record.
fn read_records(
    file: &mut impl Read,
    mut check: u32,
    mut reader: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(u64, u32)> {
    let (mut end, mut bytes) = (PAGE as u64, Vec::new());
    loop {
        bytes.clear();
        file.by_ref().take(HEAD as u64).read_to_end(&mut bytes)?;
        let Ok(&[a, b, c, d, ref known @ ..]) = <&[u8; HEAD]>::try_from(&bytes[..]) else {
            return Ok((end, check));
        };
        let (length, known) = ([a, b, c, d], u32::from_le_bytes(*known));
        bytes.clear();
        let size = u32::from_le_bytes(length);
        file.by_ref().take(size.into()).read_to_end(&mut bytes)?;
        let next = check_after(check, &length, crc32c(&bytes));
        if size == 0 || bytes.len() < size as usize || next != known {
            return Ok((end, check));
        }
        reader(&bytes)?;
        check = next;
        end += (HEAD + bytes.len()) as u64;
    }
}

/// Whether only zeros follow.
fn is_zero(file: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = file.fill_buf()?;
        if bytes.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        let length = bytes.len();
        if length == 0 {
            return Ok(true);
        }
        file.consume(length);
    }
}

/// A checksum of storage: iSCSI, ext4 and btrfs have it. Processors also have an instruction for it.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let next = |crc: u32, byte: &u8| crc >> 8 ^ TABLE[(crc as u8 ^ byte) as usize];
    !bytes.iter().fold(u32::MAX, next)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let (mut crc, mut bit) = (index as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
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
    let log = Log::open(path, |_| Ok(()){% if case.expects() %}, expected{% endif %})?;
    append_records(&log, source)?;
    log.close()
}

fn append_records(log: &Log, source: &mut impl Read) -> io::Result<()> {
    const CHUNK: u64 = {{ case.chunk().unwrap_or_default() }};
    const RECORD: u64 = CHUNK - HEAD as u64; // so that a call writes a chunk
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
