// Finds the native half: a local build, or the package for this platform.
'use strict';

const platforms = require('./platforms.json');

const PACKAGE = '@writebench/direct-io';
const FROM_SOURCE = 'Or build it: cd bindings/node && npm ci && npm run build, in a clone of the writebench repository.';

function libc() {
  if (process.platform !== 'linux') return undefined;
  // The list of network interfaces can take seconds, for DNS.
  const { excludeNetwork } = process.report;
  process.report.excludeNetwork = true;
  const { header } = process.report.getReport();
  process.report.excludeNetwork = excludeNetwork;
  return header.glibcVersionRuntime ? 'glibc' : 'musl';
}

function noBinary(message, cause) {
  return Object.assign(new Error(`${message} ${FROM_SOURCE}`, cause && { cause }), { code: 'ERR_NO_BINARY' });
}

// Undefined without such a module.
function load(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND' && error.requireStack?.[0] === __filename) return undefined;
    throw error;
  }
}

function find() {
  const here = [process.platform, process.arch, libc()].filter(Boolean);
  const built = load('../direct-io.node');
  if (built) return built;
  const [os, cpu, c] = here;
  const platform = platforms.find((one) => one.os === os && one.cpu === cpu && one.libc === c);
  if (!platform) {
    const names = platforms.map(({ name }) => name).join(', ');
    throw noBinary(`${PACKAGE} has no binary for ${here.join('-')}, only for ${names}.`);
  }
  const name = `${PACKAGE}-${platform.name}`;
  let native;
  try {
    native = load(name);
  } catch (error) {
    throw noBinary(`${name} cannot be loaded on ${here.join('-')}: ${error.message}.`, error);
  }
  if (native) return native;
  throw noBinary(
    `${PACKAGE} needs the package ${name} on this platform, which is not installed. Install again on this platform, without --omit=optional.`
  );
}

module.exports = find();
