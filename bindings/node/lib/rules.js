// Argument checks and available functions, for callbacks and promises.
'use strict';

const INTEGER_MAX = 2 ** 31 - 1;

// A descriptor, a size or an alignment: a C int that is not negative.
const isNatural = (value) => Number.isInteger(value) && value >= 0 && value <= INTEGER_MAX;

const isSwitch = (value) => value === 0 || value === 1;

function badArguments(expected) {
  return Object.assign(new TypeError(`bad arguments, expected: (${expected})`), { code: 'ERR_INVALID_ARG_VALUE' });
}

// The reason why a function is unavailable on this platform, by name.
const missing = {
  setF_NOCACHE: process.platform === 'darwin' ? undefined : 'only supported on mac os',
  setFlock: process.platform === 'win32' ? 'not supported on windows' : undefined,
  setFSCTL_LOCK_VOLUME: process.platform === 'win32' ? undefined : 'only supported on windows'
};

function refuseWhereMissing(name) {
  if (missing[name] === undefined) return;
  throw Object.assign(new Error(missing[name]), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
}

module.exports = { badArguments, isNatural, isSwitch, refuseWhereMissing };
