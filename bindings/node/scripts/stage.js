// Prepares the packages for publication: one with the JavaScript, and one for each platform. The first lists the
// others as optional dependencies, and npm installs the right one.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const PACKAGE = path.resolve(__dirname, '..');
const ROOT = path.resolve(PACKAGE, '../..');
const LICENSES = ['LICENSE-APACHE', 'LICENSE-MIT'];

const { name, version, license, engines, ...manifest } = require('../package.json');

// A tarball of the tree has this machine's binary. Here it is in another package.
const BINARY = 'direct-io.node';
const FILES = manifest.files.filter((file) => file !== BINARY);

function write(folder, file, content) {
  fs.writeFileSync(path.join(folder, file), content);
}

function folderFor(dist, base) {
  const folder = path.join(dist, base);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  for (const file of LICENSES) fs.copyFileSync(path.join(ROOT, file), path.join(folder, file));
  return folder;
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** The package with the binary `file` for `platform`, in a folder of `dist`. */
function platformPackage(platform, file, dist) {
  const folder = folderFor(dist, `direct-io-${platform.name}`);
  fs.copyFileSync(file, path.join(folder, BINARY));
  const description = `The binary of ${name} for ${platform.name}`;
  write(
    folder,
    'package.json',
    json({
      name: `${name}-${platform.name}`,
      version,
      description,
      license,
      engines,
      main: BINARY,
      files: [BINARY, ...LICENSES],
      os: [platform.os],
      cpu: [platform.cpu],
      ...(platform.libc && { libc: [platform.libc] })
    })
  );
  write(folder, 'README.md', `# ${name}-${platform.name}\n\n${description}, which installs it by itself.\n`);
  return folder;
}

/** The package with the JavaScript, which names those for `platforms`, in a folder of `dist`. */
function mainPackage(platforms, dist) {
  const folder = folderFor(dist, 'direct-io');
  for (const file of [...FILES, 'README.md']) {
    fs.cpSync(path.join(PACKAGE, file), path.join(folder, file), { recursive: true });
  }
  const optionalDependencies = Object.fromEntries(platforms.map((one) => [`${name}-${one.name}`, version]));
  const { devDependencies, scripts, files: _, ...published } = manifest;
  const whole = { name, version, license, engines, ...published, files: [...FILES, ...LICENSES], optionalDependencies };
  write(folder, 'package.json', json(whole));
  return folder;
}

module.exports = { mainPackage, platformPackage };
