'use strict';

const callbacks = require('./lib/callbacks.js');
const native = require('./lib/native.js');
const promises = require('./lib/promises.js');
const { badArguments, isNatural } = require('./lib/rules.js');

function getAlignedBuffer(size, alignment) {
  if (arguments.length !== 2 || !isNatural(size) || !isNatural(alignment)) {
    throw badArguments('size, alignment');
  }
  return native.getAlignedBuffer(size, alignment);
}

// http2's queue holds buffers without a request of libuv. (`fetch` loads http2.)
const hasQueues = () => process.moduleLoadList?.includes('Internal Binding http2') ?? true;

// Only a whole buffer: the memory of a part is not freed alone.
function release(buffer) {
  if (arguments.length !== 1 || !Buffer.isBuffer(buffer)) throw badArguments('buffer');
  if (buffer.byteLength !== buffer.buffer.byteLength) throw badArguments('buffer, and no part of one');
  return native.release(buffer.buffer, hasQueues());
}

module.exports = {
  O_DIRECT: native.O_DIRECT,
  O_DSYNC: native.O_DSYNC,
  O_EXCL: native.O_EXCL,
  O_EXLOCK: native.O_EXLOCK,
  O_SYNC: native.O_SYNC,
  getAlignedBuffer,
  release,
  getBlockDevice: callbacks.getBlockDevice,
  setF_NOCACHE: callbacks.setF_NOCACHE,
  setFlock: callbacks.setFlock,
  setFSCTL_LOCK_VOLUME: callbacks.setFSCTL_LOCK_VOLUME,
  promises
};
