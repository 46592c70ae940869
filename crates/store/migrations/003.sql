-- Labels, what the hardware could do at most, the state of the machine beside each sample, throughput over time.

ALTER TABLE runs ADD COLUMN label TEXT;
ALTER TABLE runs ADD COLUMN limits TEXT NOT NULL DEFAULT '[]';  -- JSON array
ALTER TABLE samples ADD COLUMN watch TEXT;                      -- JSON object
ALTER TABLE samples ADD COLUMN timeline TEXT;                   -- JSON object

CREATE INDEX runs_by_label ON runs (label);
