import directIo = require('@writebench/direct-io');

const buffer: Buffer = directIo.getAlignedBuffer(4096, 4096);
directIo.getBlockDevice(0, (error, device) => {
  if (error) throw error;
  console.log(device.physicalSectorSize, buffer.length, directIo.O_EXCL);
});
directIo.promises.setFlock(0, 1).then(() => {});
