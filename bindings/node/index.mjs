import directIo from './index.js';

export const {
  O_DIRECT,
  O_DSYNC,
  O_EXCL,
  O_EXLOCK,
  O_SYNC,
  getAlignedBuffer,
  release,
  getBlockDevice,
  setF_NOCACHE,
  setFlock,
  setFSCTL_LOCK_VOLUME,
  promises
} = directIo;

export default directIo;
