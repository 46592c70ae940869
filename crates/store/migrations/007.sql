-- Runs, the rows of their tables, and every sample. Times are nanoseconds, sizes bytes. Columns with a type in their
-- comment are JSON in the form of docs/reference/json.md. Columns that are computed of them are for questions in SQL.

CREATE TABLE runs (
    number   INTEGER PRIMARY KEY,               -- small, for people: `writebench show 3`
    status   TEXT NOT NULL,
    imported INTEGER NOT NULL,                  -- came from somebody's document: it is shown and compared, and never resumed
    run      TEXT NOT NULL,                     -- a RunRecord; how it stands is said above
    id       TEXT NOT NULL UNIQUE AS (run ->> 'id'),
    label    TEXT AS (run ->> 'label'),
    started  TEXT AS (run ->> 'started')
) STRICT;

CREATE INDEX runs_by_label ON runs (label);

-- A run has one target or several: each has its facts and its limits, each row and each sample is of one of them.
CREATE TABLE targets (
    run         INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    position    INTEGER NOT NULL,               -- column in the run's tables
    name        TEXT NOT NULL,                  -- what tables call it
    target      TEXT,                           -- a TargetRecord; none where there is no such target
    missing     TEXT,                           -- why there is none; none if there is
    PRIMARY KEY (run, position),
    UNIQUE (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE cases (
    run      INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,                  -- row in the run's tables
    target   INTEGER NOT NULL,                  -- the target's position
    name     TEXT NOT NULL,                     -- parses back to the case
    suite    TEXT NOT NULL,                     -- for lists
    record   TEXT NOT NULL,                     -- a CaseRecord, without samples
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

-- A case that stands in two tables of a run is measured once: samples belong to its name.
CREATE TABLE samples (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    target   INTEGER NOT NULL,                  -- the target's position
    name     TEXT NOT NULL,
    sample   TEXT NOT NULL,                     -- a Sample
    round    INTEGER AS (sample ->> 'round'),
    outcome  TEXT AS (sample ->> 'outcome'),
    bytes    INTEGER AS (sample ->> 'bytes'),
    write_ns INTEGER AS (sample ->> '$.phases_ns.write')
) STRICT;

CREATE INDEX samples_of_run ON samples (run, name);

-- Directories that writebench made in targets, until it has removed them. Recorded before they are made.
CREATE TABLE workspaces (
    path BLOB PRIMARY KEY,
    run  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
