// Builds a package for every platform that this machine can build for, and the main package, in dist/.
//
// cargo-zigbuild (with zig, both on PyPI: pip install cargo-zigbuild ziglang) links for Linux, with an old glibc, for
// macOS, without Apple's SDK, and for FreeBSD; mingw's gcc links for Windows. The targets are rustup's.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const platforms = require('../lib/platforms.json');
const cargo = require('./cargo.js');
const stage = require('./stage.js');

const DIST = path.resolve(__dirname, '../dist');

// The glibc of RHEL 7, Debian 8 and Ubuntu 14.04, and the oldest for Rust's own targets.
const GLIBC = '2.17';

// The minimum of Node 20, and the oldest for Apple's processors. zig's own default is from last year.
const MACOS = '11.0';

const SEPARATOR = '\x1f';

// musl's targets link the C library into a program; an addon must share that of node.
function environment({ libc, os }) {
  // `cargo xtask dist` gives the names of folders.
  const flags = (process.env.CARGO_ENCODED_RUSTFLAGS ?? '').split(SEPARATOR).filter(Boolean);
  flags.push('-Cstrip=symbols');
  if (libc === 'musl') flags.push('-Ctarget-feature=-crt-static');
  // Without an SDK: symbols that a library on macOS resolves in the loading node.
  if (os === 'darwin') flags.push('-Clink-arg=-undefined', '-Clink-arg=dynamic_lookup');
  return { CARGO_ENCODED_RUSTFLAGS: flags.join(SEPARATOR), MACOSX_DEPLOYMENT_TARGET: MACOS };
}

function build(platform) {
  const { os, libc, target } = platform;
  const words = ['--release', '--target', libc === 'glibc' ? `${target}.${GLIBC}` : target];
  return cargo.build(os === 'win32' ? 'build' : 'zigbuild', words, { env: environment(platform), isQuiet: true });
}

fs.rmSync(DIST, { recursive: true, force: true });
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !platforms.some((platform) => platform.name === name));
if (unknown.length > 0) {
  console.error(`no such platform: ${unknown.join(', ')}; there are ${platforms.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const built = [];
for (const platform of platforms) {
  if (wanted.length > 0 && !wanted.includes(platform.name)) continue;
  const { file, why, log } = build(platform);
  if (file === undefined) {
    fs.mkdirSync(DIST, { recursive: true });
    const text = path.join(DIST, `${platform.name}.log`);
    fs.writeFileSync(text, log ?? why);
    console.log(`${platform.name.padEnd(18)} not built: ${why} (${path.relative(process.cwd(), text)})`);
    continue;
  }
  const folder = stage.platformPackage(platform, file, DIST);
  built.push(platform);
  const size = fs.statSync(file).size;
  console.log(`${platform.name.padEnd(18)} built: ${path.relative(process.cwd(), folder)}, ${(size / 1024).toFixed(0)} KiB`);
}
if (built.length === 0) process.exit(1);
const main = stage.mainPackage(built, DIST);
console.log(`To publish: npm publish in each folder of ${path.relative(process.cwd(), DIST)}, ${path.basename(main)} last.`);
