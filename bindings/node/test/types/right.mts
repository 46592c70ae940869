import { open } from 'node:fs/promises';
import whole, { O_DIRECT, O_DSYNC, getAlignedBuffer, getBlockDevice, promises, release, setFlock } from '@writebench/direct-io';
import type { BlockDevice, RequestError } from '@writebench/direct-io';

const buffer: Buffer = getAlignedBuffer(4096, 4096);
const flags: number = O_DIRECT | O_DSYNC | whole.O_SYNC;
getBlockDevice(0, (error: RequestError | undefined, device) => {
  if (error) console.log(error.code, error.errno, error.syscall, error.cause);
  else console.log(device.size.toFixed(), device.serialNumber.trim());
});
setFlock(0, 1, (error) => error?.message.length);
whole.setF_NOCACHE(0, 0, () => {});
whole.setFSCTL_LOCK_VOLUME(0, 0, () => {});

const handle = await open('file', flags);
await handle.write(buffer);
const isReleased: boolean = release(buffer);
const device: BlockDevice = await promises.getBlockDevice(handle);
await promises.setFlock(handle.fd, 0);
console.log(device.logicalSectorSize + device.physicalSectorSize, isReleased);
