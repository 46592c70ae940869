// The call and the result of each function, by callback and by promise.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';

import directIo, { promises } from '../index.mjs';
import { PACKAGE, program } from './files.mjs';

const MANIFEST = `${PACKAGE}/package.json`;
const CLOSED = 2 ** 20;
const isWindows = process.platform === 'win32' && 'Windows has no such call';
const notLinux = process.platform !== 'linux' && `the words are Linux's, and this is ${process.platform}`;

const answered = (call, ...values) => new Promise((resolve) => call(...values, (...answer) => resolve(answer)));

test('the flags are those of open(2)', { skip: notLinux }, () => {
  const { O_DIRECT, O_DSYNC, O_EXCL, O_SYNC } = fs.constants;
  assert.deepEqual({ O_DIRECT, O_DSYNC, O_EXCL, O_SYNC }, {
    O_DIRECT: directIo.O_DIRECT,
    O_DSYNC: directIo.O_DSYNC,
    O_EXCL: directIo.O_EXCL,
    O_SYNC: directIo.O_SYNC
  });
  assert.equal(directIo.O_EXLOCK, 0);
});

test('a callback gets one argument from setFlock: undefined, or an error with its code', { skip: isWindows }, async () => {
  const fd = fs.openSync(MANIFEST);
  assert.deepEqual(await answered(directIo.setFlock, fd, 1), [undefined]);
  assert.deepEqual(await answered(directIo.setFlock, fd, 0), [undefined]);
  fs.closeSync(fd);
  const [error, ...more] = await answered(directIo.setFlock, CLOSED, 1);
  assert.deepEqual(more, []);
  assert.ok(error instanceof Error);
  assert.equal(error.message, 'EBADF, fd is an invalid file descriptor');
  assert.deepEqual([error.code, error.errno, error.syscall], ['EBADF', -9, 'flock']);
});

test('getBlockDevice reports what it was given instead of a device', { skip: notLinux }, async () => {
  const fd = fs.openSync(MANIFEST);
  const [file] = await answered(directIo.getBlockDevice, fd);
  assert.equal(file.message, 'fd is not a block or character device');
  const [closed] = await answered(directIo.getBlockDevice, CLOSED);
  assert.deepEqual([closed.message, closed.code, closed.syscall], ['fstat failed', 'EBADF', 'fstat']);
  const zero = fs.openSync('/dev/zero');
  const [character, ...more] = await answered(directIo.getBlockDevice, zero);
  assert.deepEqual([character.message, character.code], ['BLKSSZGET failed', 'ENOTTY']);
  assert.match(character.cause, /^ioctl\(BLKSSZGET\): Inappropriate ioctl for device/);
  assert.deepEqual(more, []);
  for (const opened of [fd, zero]) fs.closeSync(opened);
});

test('a callback is never called before the call has returned', { skip: isWindows }, async () => {
  let hasReturned = false;
  const answer = new Promise((resolve) => directIo.setFlock(CLOSED, 0, () => resolve(hasReturned)));
  hasReturned = true;
  assert.equal(await answer, true);
});

test('an error thrown by a callback is an uncaught exception', { skip: isWindows }, () => {
  for (const fd of ['0', String(CLOSED)]) {
    const { status, stdout } = program('throwing.cjs', [fd, 'handled']);
    assert.deepEqual([status, stdout], [0, 'uncaught: mine\n']);
    const unhandled = program('throwing.cjs', [fd]);
    assert.equal(unhandled.status, 1);
    assert.match(unhandled.stderr, /Error: mine/);
  }
});

test('a function without this platform throws at once, and its promise is rejected', async () => {
  const gone = {
    setF_NOCACHE: process.platform !== 'darwin' && 'only supported on mac os',
    setFlock: process.platform === 'win32' && 'not supported on windows',
    setFSCTL_LOCK_VOLUME: process.platform !== 'win32' && 'only supported on windows'
  };
  const missing = Object.entries(gone).filter(([, message]) => message);
  assert.ok(missing.length >= 1);
  for (const [name, message] of missing) {
    assert.throws(() => directIo[name](0, 1, () => {}), { message });
    await assert.rejects(promises[name](0, 1), { message });
  }
});

test('a promise is kept by a descriptor and by a FileHandle', { skip: isWindows }, async () => {
  const handle = await open(MANIFEST);
  assert.equal(await promises.setFlock(handle, 1), undefined);
  const other = fs.openSync(MANIFEST);
  const locked = { message: 'EWOULDBLOCK, the file is already locked', code: 'EWOULDBLOCK', syscall: 'flock' };
  await assert.rejects(promises.setFlock(other, 1), locked);
  await promises.setFlock(handle.fd, 0);
  await promises.setFlock(other, 1);
  fs.closeSync(other);
  await handle.close();
  await assert.rejects(promises.setFlock(handle, 1), { code: 'EBADF' });
});

test('a promise is broken with the error of the callback', { skip: isWindows }, async () => {
  const [expected] = await answered(directIo.getBlockDevice, CLOSED);
  await assert.rejects(promises.getBlockDevice(CLOSED), (error) => {
    const { message, code, errno, syscall, cause } = error;
    assert.deepEqual({ message, code, errno, syscall, cause }, {
      message: expected.message,
      code: expected.code,
      errno: expected.errno,
      syscall: expected.syscall,
      cause: expected.cause
    });
    return true;
  });
});

test('a promise rejects wrong files and values', async () => {
  const bad = { code: 'ERR_INVALID_ARG_VALUE' };
  for (const file of [undefined, null, -1, 1.5, '1', {}, { fd: '1' }, 2 ** 31]) {
    await assert.rejects(promises.getBlockDevice(file), { ...bad, message: 'bad arguments, expected: (file)' });
  }
  if (process.platform === 'win32') return;
  for (const value of [undefined, true, 2, '1']) {
    await assert.rejects(promises.setFlock(0, value), { ...bad, message: 'bad arguments, expected: (file, value=0/1)' });
  }
});

test('a file is unlocked when the locking process ends', { skip: isWindows }, async () => {
  const handle = await open(MANIFEST);
  await promises.setFlock(handle, 1);
  const seen = () => program('locking.cjs', [MANIFEST]).stdout;
  assert.equal(seen(), 'EWOULDBLOCK, the file is already locked\n');
  await promises.setFlock(handle, 0);
  assert.equal(seen(), 'locked\n');
  await promises.setFlock(handle, 1);
  await handle.close();
});

// With libuv's only pool thread busy, no request in the pool is answered; work on the event loop would be.
test('requests wait for a thread of the pool, and the event loop continues', { skip: isWindows }, () => {
  const run = program('waiting.cjs', [], { env: { ...process.env, UV_THREADPOOL_SIZE: '1' } });
  assert.equal(run.stderr, '');
  const { order, turns } = JSON.parse(run.stdout);
  assert.deepEqual(order, ['pbkdf2', 'getBlockDevice', 'setFlock']);
  assert.ok(turns > 10, `${turns} turns of the loop`);
});
