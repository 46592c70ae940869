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

module.exports = {
  O_DIRECT: native.O_DIRECT,
  O_DSYNC: native.O_DSYNC,
  O_EXCL: native.O_EXCL,
  O_EXLOCK: native.O_EXLOCK,
  O_SYNC: native.O_SYNC,
  getAlignedBuffer,
  getBlockDevice: callbacks.getBlockDevice,
  setF_NOCACHE: callbacks.setF_NOCACHE,
  setFlock: callbacks.setFlock,
  setFSCTL_LOCK_VOLUME: callbacks.setFSCTL_LOCK_VOLUME,
  promises
};
