-- Runs, the rows of their tables, and every sample. Times are nanoseconds, sizes bytes.

CREATE TABLE runs (
    number      INTEGER PRIMARY KEY,            -- small, for people: `writebench show 3`
    id          TEXT NOT NULL UNIQUE,           -- random, unique over machines
    status      TEXT NOT NULL,
    started     TEXT NOT NULL,                  -- RFC 3339, UTC
    version     TEXT NOT NULL,
    arguments   TEXT NOT NULL,                  -- JSON array
    target      TEXT NOT NULL,
    settings    TEXT NOT NULL,                  -- JSON
    environment TEXT NOT NULL                   -- JSON
) STRICT;

CREATE TABLE cases (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,                  -- row in the run's tables
    suite    TEXT NOT NULL,
    section  TEXT NOT NULL,
    name     TEXT NOT NULL,                     -- parses back to the case
    method   TEXT NOT NULL,
    axes     TEXT NOT NULL,                     -- JSON object
    contract TEXT NOT NULL,                     -- JSON object
    UNIQUE (run, position)
) STRICT;

-- A case that stands in two tables of a run is measured once: samples belong to its name.
CREATE TABLE samples (
    id               INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    name             TEXT NOT NULL,
    round            INTEGER NOT NULL,
    outcome          TEXT NOT NULL,
    cause            TEXT,                      -- JSON, for all but `ok`
    prepare_ns       INTEGER NOT NULL,
    open_ns          INTEGER NOT NULL,
    write_ns         INTEGER NOT NULL,
    sync_ns          INTEGER NOT NULL,
    close_ns         INTEGER NOT NULL,
    bytes            INTEGER NOT NULL,
    user_cpu_ns      INTEGER NOT NULL,
    system_cpu_ns    INTEGER NOT NULL,
    page_faults      INTEGER NOT NULL,
    context_switches INTEGER NOT NULL,
    device_bytes     INTEGER,
    verified         INTEGER,
    probe_before_ns  INTEGER NOT NULL,
    probe_after_ns   INTEGER NOT NULL,
    steal_ns         INTEGER NOT NULL,
    settle_ns        INTEGER NOT NULL,
    disturbed        TEXT
) STRICT;

CREATE INDEX samples_of_run ON samples (run, name);

-- Directories that writebench made in targets, until it has removed them. Recorded before they are made.
CREATE TABLE workspaces (
    path BLOB PRIMARY KEY,
    run  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
