// The options and the table of `direct-io-benchmark`.
'use strict';

const BLOCKS = Array.from({ length: 14 }, (_, power) => 4096 << power);
const [BLOCK_MIN, BLOCK_MAX] = [BLOCKS[0], BLOCKS[BLOCKS.length - 1]];

const MEGABYTE = 1 << 20;
const UNITS = { B: 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30 };

function readBlock(name, value) {
  if (!/^\d+$/.test(value)) return { wrong: `--${name} takes a number of bytes, not '${value}'` };
  const bytes = Number(value);
  if (bytes < BLOCK_MIN) return { wrong: `--${name}=${value} is less than ${BLOCK_MIN}` };
  if (bytes > BLOCK_MAX) return { wrong: `--${name}=${value} is more than ${BLOCK_MAX}` };
  return { bytes };
}

/** The command line, or the reason why it is `wrong`. */
function read(words) {
  const given = { name: undefined, blocks: BLOCKS, options: [], destroys: false, destroysData: false };
  let [min, max] = [BLOCK_MIN, BLOCK_MAX];
  for (const word of words) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (word === '--help' || word === '-h') return { isHelp: true };
    if (word === '--destroy') given.destroys = true;
    else if (word === '--destroy-data') given.destroysData = true;
    else if (['size', 'samples', 'budget'].includes(name) && value) given.options.push(`--${name}`, value);
    else if (['block-min', 'block-max'].includes(name) && value) {
      const { bytes, wrong } = readBlock(name, value);
      if (wrong) return { wrong };
      if (name === 'block-min') min = bytes;
      else max = bytes;
    } else if (word.startsWith('-')) return { wrong: `unknown option ${word}, or its value is missing` };
    else if (given.name !== undefined) return { wrong: `'${given.name}' and '${word}': one target at a time` };
    else given.name = word;
  }
  given.blocks = BLOCKS.filter((block) => block >= min && block <= max);
  if (given.blocks.length === 0) return { wrong: `no block size from ${min} to ${max}: they are powers of two` };
  given.name ??= '.';
  return given;
}

function bytesOf(text) {
  const [, number, unit] = /^(\d+)([A-Za-z]+)?$/.exec(text);
  return Number(number) * UNITS[unit ?? 'B'];
}

function figure({ estimate, outcome, reason }) {
  if (estimate === null) return `${outcome}${reason ? `: ${reason}` : ''}`;
  return `${(estimate.throughput_bytes_per_s.value / MEGABYTE).toFixed(2).padStart(8)} MB/s`;
}

/** Lines of the measured cases: by block size, then in the suite's order. */
function rows(cases, name) {
  const reached = cases.filter(({ outcome }) => outcome !== 'not-run');
  const measured = reached.map((one) => ({ ...one, block: bytesOf(one.axes.chunk) }));
  measured.sort((a, b) => a.block - b.block);
  return measured.map((one) => [String(one.block).padStart(10), name, one.label.padEnd(38), figure(one)].join(' | '));
}

module.exports = { BLOCKS, read, rows };
