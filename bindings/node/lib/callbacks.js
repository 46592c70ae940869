// Functions with a callback, whose first argument is an error or undefined.
'use strict';

const requests = require('./requests.js');
const { badArguments, isNatural, isSwitch, refuseWhereMissing } = require('./rules.js');

// A separate tick makes an exception in a callback uncaught, rather than an unobserved rejection of a
// promise.
function answer(promise, callback) {
  promise.then(
    (value) => process.nextTick(callback, ...(value === undefined ? [undefined] : [undefined, value])),
    (error) => process.nextTick(callback, error)
  );
}

function getBlockDevice(fd, callback) {
  if (arguments.length !== 2 || !isNatural(fd) || typeof callback !== 'function') {
    throw badArguments('fd, callback');
  }
  answer(requests.getBlockDevice(fd), callback);
}

function set(name) {
  return function (fd, value, callback) {
    refuseWhereMissing(name);
    if (arguments.length !== 3 || !isNatural(fd) || !isSwitch(value) || typeof callback !== 'function') {
      throw badArguments('fd, value=0/1, callback');
    }
    answer(requests[name](fd, value), callback);
  };
}

module.exports = {
  getBlockDevice,
  setF_NOCACHE: set('setF_NOCACHE'),
  setFlock: set('setFlock'),
  setFSCTL_LOCK_VOLUME: set('setFSCTL_LOCK_VOLUME')
};
