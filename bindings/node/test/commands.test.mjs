// Tests of the two commands.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { PACKAGE, inFolder, noLoopDevice, withLoopDevice } from './files.mjs';

const BENCHMARK = path.join(PACKAGE, 'bin', 'direct-io-benchmark.js');
const DEVICE = path.join(PACKAGE, 'bin', 'get-block-device.js');

function run(command, words, env = {}) {
  const options = { encoding: 'utf8', timeout: 120_000, env: { ...process.env, ...env } };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...words], options);
  return { status, stdout, stderr };
}

// The program from WRITEBENCH, from cargo's build here, or from PATH.
function engine() {
  const target = process.env.CARGO_TARGET_DIR ?? path.resolve(PACKAGE, '../../target');
  const built = ['release', 'debug'].map((profile) => path.join(target, profile, 'writebench'));
  const candidates = process.env.WRITEBENCH ? [process.env.WRITEBENCH] : [...built, 'writebench'];
  return candidates.find((program) => spawnSync(program, ['--version']).status === 0);
}

const WRITEBENCH = engine();
const noEngine = WRITEBENCH === undefined && 'there is no writebench program: cargo build, or set WRITEBENCH';

const FLAGS = ['BUFFERED', 'BUFFERED + ALIGNED', 'O_DIRECT'].concat(
  ['AMORTIZED_FDATASYNC', 'AMORTIZED_FSYNC', 'FDATASYNC', 'FSYNC', 'O_DSYNC', 'O_SYNC'].flatMap((name) => [
    name,
    `${name} + ALIGNED`,
    `${name} + O_DIRECT`
  ])
);

const SHORT = ['--block-min=65536', '--block-max=131072', '--size=1MiB', '--samples=1'];

// block size | path | flags | MB/s
function table(stdout, name) {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [block, where, flags, figure] = line.split(' | ');
      assert.deepEqual([block.length, where, flags.length], [10, name, 38], line);
      return [Number(block), flags.trim(), figure];
    });
}

test('the benchmark prints a row per block size and flags, and leaves no file', { skip: noEngine }, () =>
  inFolder((folder) => {
    const file = path.join(folder, 'file');
    fs.writeFileSync(file, 'mine');
    const env = { WRITEBENCH, WRITEBENCH_DB: path.join(folder, 'runs.db') };
    const { status, stdout, stderr } = run(BENCHMARK, [...SHORT, file], env);
    assert.equal(status, 0, stderr);
    const rows = table(stdout, file);
    const expected = [65536, 131072].flatMap((block) => FLAGS.map((flags) => [block, flags]));
    assert.deepEqual(rows.map(([block, flags]) => [block, flags]), expected);
    for (const [, , figure] of rows) assert.match(figure, /^ *\d+\.\d\d MB\/s$|^unsupported: /);
    assert.equal(fs.readFileSync(file, 'utf8'), 'mine');
    const left = fs.readdirSync(folder).filter((name) => !name.startsWith('runs.db'));
    assert.deepEqual(left, ['file']);
  })
);

test('a device is not written without --destroy, and is with it', { skip: noEngine || noLoopDevice() }, () =>
  withLoopDevice(4096, 16 << 20, (device) =>
    inFolder((folder) => {
      const env = { WRITEBENCH, WRITEBENCH_DB: path.join(folder, 'runs.db') };
      const mark = Buffer.alloc(4096, 'mine');
      fs.writeFileSync(device, mark);
      const refused = run(BENCHMARK, [...SHORT, device], env);
      assert.equal(refused.status, 3);
      assert.match(refused.stderr, /is a block device, and would lose its data. To permit this, add --destroy\n$/);
      const first = () => fs.readFileSync(device).subarray(0, 4096);
      assert.ok(first().equals(mark));
      const done = run(BENCHMARK, [...SHORT, '--destroy', device], env);
      assert.equal(done.status, 0, done.stderr);
      assert.equal(table(done.stdout, device).length, 2 * FLAGS.length);
      assert.ok(!first().equals(mark));
    })
  )
);

test('without writebench, the benchmark prints where it looked and how to get it', () => {
  const cases = [
    [{ WRITEBENCH: '', PATH: '/nowhere' }, 'in PATH.'],
    [{ WRITEBENCH: '/nowhere/writebench' }, 'at /nowhere/writebench (environment variable WRITEBENCH).']
  ];
  for (const [env, place] of cases) {
    const { status, stdout, stderr } = run(BENCHMARK, [], env);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    const [what, how, ...more] = stderr.trimEnd().split('\n');
    assert.equal(what, `direct-io-benchmark: writebench is not ${place}`);
    assert.match(how, /^Get it by `cargo install --path crates\/cli`/);
    assert.deepEqual(more, []);
  }
});

test('a wrong command line of the benchmark is one line and exit code 2', () => {
  for (const words of [
    ['--block-min=1'],
    ['--block-max=67108864'],
    ['--block-min=5000', '--block-max=6000'],
    ['--block-min'],
    ['--block-min=4k'],
    ['--nonsense'],
    ['a', 'b'],
    ['--destroy', '.']
  ]) {
    const { status, stdout, stderr } = run(BENCHMARK, words);
    assert.deepEqual([status, stdout], [2, ''], words.join(' '));
    assert.match(stderr, /^direct-io-benchmark: .+\n$/);
  }
});

test('get-block-device reports a wrong argument in one line', () => {
  const said = (...words) => run(DEVICE, words);
  assert.deepEqual(said(), { status: 1, stdout: '', stderr: 'Usage: get-block-device <path>\n' });
  assert.match(said('/nowhere').stderr, /^Error: ENOENT: no such file or directory, open '\/nowhere'\n$/);
  if (process.platform !== 'linux') return;
  const file = said(BENCHMARK);
  assert.deepEqual(file, {
    status: 1,
    stdout: '',
    stderr: `Error: ${BENCHMARK}: fd is not a block or character device\n`
  });
});

const isWindows = process.platform === 'win32' && 'signals are of Unix';

test('after a signal, the benchmark waits until writebench has cleaned up', { skip: noEngine || isWindows }, () =>
  inFolder(async (folder) => {
    const [work, temporary] = ['work', 'temporary'].map((name) => path.join(folder, name));
    for (const made of [work, temporary]) fs.mkdirSync(made);
    const env = { ...process.env, WRITEBENCH, WRITEBENCH_DB: path.join(folder, 'runs.db'), TMPDIR: temporary };
    const child = spawn(process.execPath, [BENCHMARK, work], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = text(child.stderr);
    const printed = text(child.stdout);
    const started = Date.now();
    while (fs.readdirSync(work).length === 0 && Date.now() - started < 60_000) await setTimeout(20);
    child.kill('SIGTERM');
    const [status] = await once(child, 'exit');
    assert.notEqual(status, 0);
    assert.match(await said, /^\d+ of 294 combinations were not measured: the run ended before$/m);
    assert.doesNotMatch(await printed, /not-run/);
    assert.deepEqual([fs.readdirSync(work), fs.readdirSync(temporary)], [[], []]);
  })
);
