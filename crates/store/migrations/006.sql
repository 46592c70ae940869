-- How much of a sample was read back and compared, and where it came from.

ALTER TABLE samples ADD COLUMN read_back TEXT;          -- whole, part; none if only the size was looked at
ALTER TABLE samples ADD COLUMN read_back_bytes INTEGER; -- how much was compared
ALTER TABLE samples ADD COLUMN read_back_from TEXT;     -- page-cache, device; none if unknown

UPDATE samples SET read_back = 'whole', read_back_bytes = bytes WHERE verified = 1;

ALTER TABLE samples DROP COLUMN verified;
