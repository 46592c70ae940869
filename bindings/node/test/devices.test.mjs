// Facts of real devices: loop devices with sectors of either size.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

import { O_DIRECT, O_EXCL, getAlignedBuffer, promises } from '../index.mjs';
import { PACKAGE, noLoopDevice, withLoopDevice } from './files.mjs';

const SIZE = 16 << 20;
const skip = noLoopDevice();

for (const sectorSize of [512, 4096]) {
  test(`a device with sectors of ${sectorSize} bytes reports it, and has no serial number`, { skip }, () =>
    withLoopDevice(sectorSize, SIZE, async (device) => {
      const handle = await open(device);
      assert.deepEqual(await promises.getBlockDevice(handle), {
        logicalSectorSize: sectorSize,
        physicalSectorSize: sectorSize,
        size: SIZE,
        serialNumber: ''
      });
      await handle.close();
    })
  );
}

test('direct I/O in sectors works, and half a sector is refused', { skip }, () =>
  withLoopDevice(4096, SIZE, async (device) => {
    const handle = await open(device, fs.constants.O_RDWR | O_DIRECT | O_EXCL);
    const { logicalSectorSize } = await promises.getBlockDevice(handle);
    const sector = getAlignedBuffer(logicalSectorSize, logicalSectorSize).fill(7);
    await handle.write(sector, 0, sector.length, 8 * sector.length);
    const back = getAlignedBuffer(logicalSectorSize, logicalSectorSize);
    await handle.read(back, 0, back.length, 8 * back.length);
    assert.ok(back.equals(sector));
    await assert.rejects(handle.write(sector, 0, sector.length / 2, 0), { code: 'EINVAL' });
    await assert.rejects(open(device, fs.constants.O_RDONLY | O_EXCL), { code: 'EBUSY' });
    await handle.close();
  })
);

test('get-block-device prints a device as @ronomon/direct-io did', { skip }, () =>
  withLoopDevice(512, SIZE, (device) => {
    const { stdout } = spawnSync(process.execPath, [path.join(PACKAGE, 'bin/get-block-device.js'), device], {
      encoding: 'utf8'
    });
    assert.deepEqual(stdout.split('\n'), [
      '',
      '   Logical Sector Size: 512',
      '  Physical Sector Size: 512',
      `                  Size: ${SIZE}`,
      '         Serial Number: ""',
      '',
      ''
    ]);
  })
);
