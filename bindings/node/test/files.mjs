// Places for tests, and the reasons why one is unavailable.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export const PACKAGE = path.resolve(path.dirname(new URL(import.meta.url).pathname), '..');

const EXT4 = 0xef53;

/** Gives `then` a folder of its own on the filesystem of this repository: temporary ones may have no disk below. */
export async function inFolder(then) {
  const folder = fs.mkdtempSync(path.join(PACKAGE, '.test-'));
  try {
    return await then(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Why direct I/O cannot be tried here, or false. */
export function noDirectIo() {
  if (process.platform !== 'linux') return `only tried on Linux, and this is ${process.platform}`;
  return fs.statfsSync(PACKAGE).type === EXT4 ? false : 'the repository is not on ext4, of which it is known what it refuses';
}

/** Why no loop device can be made, or false. */
export function noLoopDevice() {
  if (process.platform !== 'linux') return `loop devices are Linux's, and this is ${process.platform}`;
  if (process.getuid() !== 0) return 'loop devices need root';
  if (spawnSync('losetup', ['--version']).error) return 'there is no losetup';
  if (spawnSync('losetup', ['--find']).status !== 0) return 'losetup finds no free loop device';
  return false;
}

/** Gives `then` the path of a loop device with such sectors over a file of `size` bytes. */
export async function withLoopDevice(sectorSize, size, then) {
  return inFolder(async (folder) => {
    const image = path.join(folder, 'image');
    fs.writeFileSync(image, '');
    fs.truncateSync(image, size);
    const words = ['--find', '--show', '--sector-size', String(sectorSize), image];
    const device = execFileSync('losetup', words, { encoding: 'utf8' }).trim();
    try {
      return await then(device);
    } finally {
      execFileSync('losetup', ['--detach', device]);
    }
  });
}

/** Runs a program of `test/programs` with this node, and gives what became of it. */
export function program(name, words = [], options = {}) {
  const file = path.join(PACKAGE, 'test', 'programs', name);
  const [flags, rest] = [options.flags ?? [], { encoding: 'utf8', timeout: 120_000, ...options }];
  return spawnSync(process.execPath, [...flags, file, ...words], rest);
}
