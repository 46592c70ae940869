// The packages as users get them: packed by npm, and installed by npm in a new project.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(import.meta.url);
const stage = require('../scripts/stage.js');
const platforms = require('../lib/platforms.json');

export const PACKAGE = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
export const NAME = '@writebench/direct-io';

/** npm's standard output. */
export function npm(words, cwd) {
  const options = { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' };
  return execFileSync('npm', words, options);
}

/** Packs a folder, with no build before, and gives the tarball's path. */
export function pack(folder, into) {
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', into], folder));
  return path.join(into, filename);
}

/** A project in a new folder, with these packages. Offline, because no published one has such a name. */
export function projectWith(...packages) {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'direct-io-project-'));
  fs.writeFileSync(path.join(project, 'package.json'), '{ "name": "project", "private": true }\n');
  npm(['install', '--offline', '--no-audit', '--no-fund', ...packages], project);
  return project;
}

/** The platform that these tests run on, as the loader knows it. */
export function here() {
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
  const fits = ({ os: system, cpu, libc: c }) =>
    system === process.platform && cpu === process.arch && (c === undefined || c === libc);
  const platform = platforms.find(fits);
  if (!platform) throw new Error(`no platform package for ${process.platform}-${process.arch}`);
  return platform;
}

/** A project in a temporary folder that has both packages, with the binary that `npm run build` made. */
export function install() {
  const dist = fs.mkdtempSync(path.join(os.tmpdir(), 'direct-io-dist-'));
  const binary = stage.platformPackage(here(), path.join(PACKAGE, 'direct-io.node'), dist);
  const main = stage.mainPackage([here()], dist);
  const project = projectWith(pack(binary, dist), pack(main, dist));
  fs.rmSync(dist, { recursive: true });
  return { project, folder: path.join(project, 'node_modules', NAME) };
}
