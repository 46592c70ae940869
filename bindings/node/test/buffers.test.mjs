// Tests of aligned buffers, and of their lifetime.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomFill, randomFillSync } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { deflate, inflateSync } from 'node:zlib';

import { O_DIRECT, O_DSYNC, getAlignedBuffer, release } from '../index.mjs';
import { PACKAGE, inFolder, noDirectIo, program } from './files.mjs';

const { O_CREAT, O_RDWR } = fs.constants;

/** Releases a buffer as soon as nothing is under way in this thread; the test runner may have requests, too. */
async function releaseSoon(buffer) {
  for (let turns = 0; !release(buffer); turns += 1) {
    assert.ok(turns < 1000, 'a request is under way all the time');
    await turn();
  }
}

test('a direct write from an aligned buffer is read back, and one at the next byte is refused', { skip: noDirectIo() }, () =>
  inFolder((folder) => {
    const file = path.join(folder, 'file');
    const size = 1 << 20;
    const written = randomFillSync(getAlignedBuffer(size, 4096));
    const fd = fs.openSync(file, O_DIRECT | O_DSYNC | O_RDWR | O_CREAT);
    assert.equal(fs.writeSync(fd, written, 0, size, 0), size);
    const read = getAlignedBuffer(size, 4096);
    assert.equal(fs.readSync(fd, read, 0, size, 0), size);
    assert.ok(read.equals(written));
    assert.ok(fs.readFileSync(file).equals(written), 'through the page cache, too');
    assert.throws(() => fs.writeSync(fd, written, 1, 4096, 0), { code: 'EINVAL' });
    fs.closeSync(fd);
  })
);

// The kernel checks the alignment of every buffer: a file here needs at most a sector.
test('small buffers have each alignment', { skip: noDirectIo() }, () =>
  inFolder((folder) => {
    const fd = fs.openSync(path.join(folder, 'file'), O_DIRECT | O_RDWR | O_CREAT);
    const kept = [];
    for (let alignment = 512; alignment <= 4 << 20; alignment *= 2) {
      for (let round = 0; round < 8; round += 1) {
        const buffer = getAlignedBuffer(4096, alignment);
        kept.push(buffer, Buffer.alloc(round * 7));
        assert.equal(fs.writeSync(fd, buffer, 0, 4096, 0), 4096);
      }
    }
    fs.closeSync(fd);
  })
);

test('a buffer is a zero-filled Buffer, and keeps data written through its views', () => {
  const buffer = getAlignedBuffer(8192, 4096);
  assert.ok(Buffer.isBuffer(buffer) && buffer.every((byte) => byte === 0));
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  view.setUint32(8188, 0xdeadbeef);
  assert.equal(buffer.readUInt32BE(8188), 0xdeadbeef);
  assert.equal(buffer.subarray(4096).length, 4096);
});

test('the largest buffer is a byte less than 2 GiB, and more is a bad argument', () => {
  assert.throws(() => getAlignedBuffer(2 ** 31, 4096), { message: 'bad arguments, expected: (size, alignment)' });
  assert.throws(() => getAlignedBuffer(0, 4096), { message: 'size must not be 0', code: 'ERR_OUT_OF_RANGE' });
});

test('missing memory is an error, and does not abort', { skip: process.platform !== 'linux' && 'limits are by prlimit' }, () => {
  const { stdout, status } = program('exhausting.cjs', [], { flags: [] });
  assert.equal(status, 0);
  assert.match(stdout, /^ERR_MEMORY_ALLOCATION_FAILED insufficient memory for 2147483647 bytes$/m);
});

// Simulates Electron's sandbox.
const noPreload =
  (process.platform !== 'linux' && 'only tried on Linux') ||
  (spawnSync('cc', ['--version']).error && 'there is no C compiler') ||
  false;

test('a Node without external buffers returns an error, and loses no memory', { skip: noPreload }, () =>
  inFolder((folder) => {
    const library = path.join(folder, 'sandbox.so');
    const source = path.join(PACKAGE, 'test', 'programs', 'sandbox.c');
    assert.equal(spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).status, 0);
    const { stdout, stderr, status } = program('forbidden.cjs', [], { env: { ...process.env, LD_PRELOAD: library } });
    assert.equal(status, 0, stderr);
    const { code, message, kept } = JSON.parse(stdout);
    assert.equal(code, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM');
    assert.equal(message, 'this runtime allows no external buffers, and a copy would not be aligned');
    assert.ok(kept < 100 << 20, `${kept} bytes of a thousand MiB are still resident`);
  })
);

test('the memory of ten thousand buffers is freed when they are garbage', () => {
  const { stdout, stderr, status } = program('garbage.cjs', [], { flags: ['--expose-gc'] });
  assert.equal(status, 0, stderr);
  const { before, held, after, rss } = JSON.parse(stdout);
  const inBuffers = held - before;
  assert.ok(inBuffers > 0.95 * 10_000 * 16384, `${inBuffers} bytes are known to V8 while the buffers live`);
  assert.ok(after - before < inBuffers / 100, `${after - before} of ${inBuffers} bytes stay after`);
  const [first, last] = [rss.held[0] - rss.before, rss.held.at(-1) - rss.before];
  assert.ok(last < 1.5 * first, `resident with ten thousand: ${first} bytes the first time, ${last} the fifth`);
});

test('V8 collects buffers by itself before memory is full', () => {
  const { stdout, stderr, status } = program('churning.cjs');
  assert.equal(status, 0, stderr);
  const { made, most } = JSON.parse(stdout);
  assert.ok(most < made / 4, `${most} bytes resident at most, of ${made} made`);
});

test('released buffers are freed at once, without a turn of the event loop', () => {
  const { stdout, stderr, status } = program('releasing.cjs');
  assert.equal(status, 0, stderr);
  const { made, released, most } = JSON.parse(stdout);
  assert.equal(released, made);
  assert.ok(most < 64 << 20, `${most} bytes resident at most, of ${made} MiB made`);
});

test('a released buffer and its views have no bytes, and using them is harmless', async () => {
  const buffer = getAlignedBuffer(8192, 4096);
  const views = [buffer, buffer.subarray(100), new Uint32Array(buffer.buffer)];
  const data = new DataView(buffer.buffer);
  await releaseSoon(buffer);
  for (const view of views) {
    view[0] = 1;
    assert.deepEqual([view.length, view[0]], [0, undefined]);
    assert.throws(() => view.fill(1), TypeError);
  }
  assert.throws(() => data.getUint8(0), TypeError);
  assert.throws(() => buffer.writeUInt8(1, 0), { code: 'ERR_BUFFER_OUT_OF_BOUNDS' });
  const fd = fs.openSync(PACKAGE);
  assert.throws(() => fs.writeSync(fd, buffer, 0, 4096, 0), { code: 'ERR_OUT_OF_RANGE' });
  fs.closeSync(fd);
});

test('only a whole aligned buffer is released, and only once', async () => {
  const bad = (value, message) => assert.throws(() => release(value), { code: 'ERR_INVALID_ARG_VALUE', message });
  const buffer = getAlignedBuffer(8192, 4096);
  for (const value of [undefined, null, 1, {}, buffer.buffer, new Uint8Array(8)]) {
    bad(value, 'bad arguments, expected: (buffer)');
  }
  bad(buffer.subarray(4096), 'bad arguments, expected: (buffer, and no part of one)');
  bad(Buffer.from('pooled'), 'bad arguments, expected: (buffer, and no part of one)');
  const foreign = 'not a buffer of getAlignedBuffer, or released already';
  for (const value of [Buffer.alloc(0), Buffer.allocUnsafeSlow(8192), Buffer.from(new SharedArrayBuffer(8))]) {
    assert.throws(() => release(value), { code: 'ERR_INVALID_ARG_VALUE' });
  }
  bad(Buffer.from(new ArrayBuffer(8192)), foreign);
  await releaseSoon(buffer);
  bad(buffer, foreign);
});

// Each holds only a pointer to the memory outside of the event loop.
const requests = {
  'fs.write': (buffer, fd, done) => fs.write(fd, buffer, 0, buffer.length, 0, done),
  'crypto.randomFill': (buffer, _, done) => randomFill(buffer, done),
  'zlib.deflate': (buffer, _, done) => deflate(buffer, done)
};

for (const [name, request] of Object.entries(requests)) {
  test(`a buffer is not released while ${name} uses it`, () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'file');
      const fd = fs.openSync(file, O_RDWR | O_CREAT);
      const buffer = getAlignedBuffer(8 << 20, 4096).fill(7);
      const done = new Promise((resolve, reject) => {
        request(buffer, fd, (error, result) => {
          if (error) reject(error);
          else resolve(result);
        });
      });
      assert.equal(release(buffer), false);
      assert.equal(buffer.length, 8 << 20);
      const result = await done;
      assert.equal(buffer.some((byte) => byte !== 7), name === 'crypto.randomFill');
      await releaseSoon(buffer);
      assert.equal(buffer.length, 0);
      const written = { 'fs.write': () => fs.readFileSync(file), 'zlib.deflate': () => inflateSync(result) }[name]?.();
      if (written) assert.ok(written.length === 8 << 20 && written.every((byte) => byte === 7));
      fs.closeSync(fd);
    })
  );
}

test('a buffer in a queue of http2 is not released', () => {
  const { stdout, stderr, status } = program('queueing.cjs');
  assert.equal(status, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), { isReleased: false, length: 1 << 20 });
});

test('a worker that is ended while it makes a buffer gives it back', () => {
  const { stdout, stderr, status } = program('ending.cjs');
  assert.equal(status, 0, stderr);
  const { stays, oneEach } = JSON.parse(stdout);
  assert.ok(stays < oneEach / 3, `${stays} bytes stay; a buffer of each worker is ${oneEach}`);
});

test('workers end with live buffers and requests in flight, and the main thread continues', () => {
  for (const order of ['main-first', 'workers-first']) {
    const { stdout, stderr, status, signal } = program('workers.cjs', [order]);
    assert.deepEqual([status, signal], [0, null], `${order}: ${stderr}`);
    const { copies, terminated, ownStillZero, afterwards } = JSON.parse(stdout);
    assert.equal(copies, 8, order);
    assert.equal(terminated, 8, order);
    assert.ok(ownStillZero && afterwards, order);
  }
});
