// Requests on a descriptor, outside of the event loop.
'use strict';

const { getSystemErrorName } = require('node:util');

const native = require('./native.js');

function errorOf({ message, reason, errno, code, syscall }) {
  const error = new Error(message, reason === message ? undefined : { cause: reason });
  const name = code ?? (errno === undefined ? undefined : getSystemErrorName(-errno));
  return Object.assign(
    error,
    errno !== undefined && { errno: -errno },
    name !== undefined && { code: name },
    syscall !== undefined && { syscall }
  );
}

async function ask(call, ...values) {
  const { device, failure } = await call(...values);
  if (failure) throw errorOf(failure);
  return device;
}

module.exports = {
  errorOf,
  getBlockDevice: (fd) => ask(native.getBlockDevice, fd),
  setF_NOCACHE: (fd, value) => ask(native.setF_NOCACHE, fd, value === 1),
  setFlock: (fd, value) => ask(native.setFlock, fd, value === 1),
  setFSCTL_LOCK_VOLUME: (fd, value) => ask(native.setFSCTL_LOCK_VOLUME, fd, value === 1)
};
