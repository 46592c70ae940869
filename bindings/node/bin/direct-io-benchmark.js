#!/usr/bin/env node
// Runs writebench's suite `direct`, and prints the table of @ronomon/direct-io's benchmark.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { BLOCKS, read, rows } = require('../lib/benchmark.js');

const HELP = `Usage: direct-io-benchmark [options] [device|file|directory]

Measures writing by block size and flags. writebench makes its files next to the named file, or in the
directory (default: the current one), and removes them. It never writes a file of yours.

Options:
  --block-min=BYTES   smallest block (default ${BLOCKS[0]})
  --block-max=BYTES   largest block (default ${BLOCKS[BLOCKS.length - 1]})
  --size=SIZE         bytes of each combination (default 64MiB)
  --samples=N         samples of each combination (default 6)
  --budget=TIME       stop after that time, such as 10m
  --destroy           write to a block device, and lose its data
  --destroy-data      also if it has a filesystem or a partition table
  --help

MB are 1048576 bytes, like in @ronomon/direct-io. \`writebench show\` prints the intervals of the run.
Environment: WRITEBENCH, the writebench program (default: the one in PATH).`;

const GET_IT = 'Get it by `cargo install --path crates/cli` in a clone of the writebench repository.';

const FAILED = 1;
const BAD_USAGE = 2;
const REFUSED = 3;

function fail(message, status) {
  console.error(message);
  process.exit(status);
}

function targetOf(name) {
  const status = fs.statSync(name, { throwIfNoEntry: false });
  if (status?.isBlockDevice()) return { target: name, isDevice: true };
  if (status?.isDirectory()) return { target: name, isDevice: false };
  if (status !== undefined && !status.isFile()) fail(`direct-io-benchmark: ${name} is not a device, file or directory`, FAILED);
  return { target: path.dirname(path.resolve(name)), isDevice: false };
}

function argumentsFor({ name, blocks, options, destroys, destroysData }) {
  const { target, isDevice } = targetOf(name);
  if (isDevice && !destroys) {
    fail(`direct-io-benchmark: ${name} is a block device, and would lose its data. To permit this, add --destroy`, REFUSED);
  }
  if (!isDevice && destroys) fail(`direct-io-benchmark: --destroy, but ${name} is not a block device`, BAD_USAGE);
  const destroy = destroys ? ['--destroy', name, ...(destroysData ? ['--destroy-data'] : [])] : [];
  return ['run', target, '--yes', '--suite', 'direct', '--set', `chunk=${blocks.join(',')}`, ...options, ...destroy];
}

function print(file, name) {
  const { cases } = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const row of rows(cases, name)) console.log(row);
  const missed = cases.filter(({ outcome }) => outcome === 'not-run').length;
  if (missed > 0) console.error(`${missed} of ${cases.length} combinations were not measured: the run ended before`);
}

function run(given) {
  const words = argumentsFor(given);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'direct-io-benchmark-'));
  const clean = () => fs.rmSync(folder, { recursive: true, force: true });
  const results = path.join(folder, 'results.json');
  const named = process.env.WRITEBENCH;
  const program = named || 'writebench';
  const child = spawn(program, [...words, '--export', `json=${results}`], {
    stdio: ['ignore', 'ignore', 'inherit']
  });
  // It cleans up after a signal: wait for that. A terminal sends SIGINT to both processes.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    clean();
    if (error.code !== 'ENOENT') fail(`direct-io-benchmark: ${program}: ${error.message}`, FAILED);
    const place = named ? `at ${named} (environment variable WRITEBENCH)` : 'in PATH';
    fail(`direct-io-benchmark: writebench is not ${place}.\n${GET_IT}`, FAILED);
  });
  child.on('exit', (status, signal) => {
    if (fs.existsSync(results)) print(results, given.name);
    clean();
    if (signal) console.error(`direct-io-benchmark: ${program} was ended by ${signal}`);
    process.exitCode = status ?? FAILED;
  });
}

const given = read(process.argv.slice(2));
if (given.isHelp) console.log(HELP);
else if (given.wrong) fail(`direct-io-benchmark: ${given.wrong}. See --help`, BAD_USAGE);
else run(given);
