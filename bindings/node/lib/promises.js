// The same functions with promises. They also accept a FileHandle of `fs.promises`.
'use strict';

const requests = require('./requests.js');
const { badArguments, isNatural, isSwitch, refuseWhereMissing } = require('./rules.js');

// The garbage collector closes an unreferenced FileHandle, so those in use are held here.
const held = new Set();

async function withDescriptor(file, expected, then) {
  const isHandle = typeof file === 'object' && file !== null;
  const fd = isHandle ? file.fd : file;
  if (isHandle && fd === -1) {
    throw requests.errorOf({ message: 'EBADF: bad file descriptor', reason: 'the FileHandle is closed', code: 'EBADF' });
  }
  if (!isNatural(fd)) throw badArguments(expected);
  const use = { file };
  held.add(use);
  try {
    return await then(fd);
  } finally {
    held.delete(use);
  }
}

async function getBlockDevice(file) {
  return withDescriptor(file, 'file', requests.getBlockDevice);
}

function set(name) {
  const expected = 'file, value=0/1';
  return async function (file, value) {
    refuseWhereMissing(name);
    if (!isSwitch(value)) throw badArguments(expected);
    return withDescriptor(file, expected, (fd) => requests[name](fd, value));
  };
}

module.exports = {
  getBlockDevice,
  setF_NOCACHE: set('setF_NOCACHE'),
  setFlock: set('setFlock'),
  setFSCTL_LOCK_VOLUME: set('setFSCTL_LOCK_VOLUME')
};
