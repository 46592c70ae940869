/// <reference types="node" />

import type { FileHandle } from 'node:fs/promises';

/** Flag of `fs.open`: past the page cache. 0 on macOS, which has {@link setF_NOCACHE}. */
export const O_DIRECT: number;

/** Flag of `fs.open`: a write returns when its data is durable. */
export const O_DSYNC: number;

/** Flag of `fs.open` for block devices on Linux: `EBUSY` if the device is mounted or held. */
export const O_EXCL: number;

/** Flag of `fs.open` on macOS, FreeBSD and Windows: locks the file. 0 on Linux. */
export const O_EXLOCK: number;

/** Flag of `fs.open`: a write returns when its data and all metadata are durable. */
export const O_SYNC: number;

/** Facts of a device. An unknown fact is 0 or empty. */
export interface BlockDevice {
  /** Unit of addresses, in bytes. */
  logicalSectorSize: number;
  /** Unit of writes, in bytes. */
  physicalSectorSize: number;
  /** Capacity, in bytes. */
  size: number;
  /** Empty if the system does not report it. */
  serialNumber: string;
}

/** Error of a failed call. */
export interface RequestError extends Error {
  /** The system's name of the error, such as `EBADF`. Not on Windows. */
  code?: string;
  /** The system's number of the error, negative as in Node. Not on Windows. */
  errno?: number;
  /** The failed call. */
  syscall?: string;
  /** The call and the system's message, in one line. */
  cause?: unknown;
}

/**
 * A zero-filled buffer that begins at a multiple of `alignment`, a power of two from 8 to 4194304.
 *
 * @throws for wrong arguments, without memory, or in a runtime without external buffers.
 */
export function getAlignedBuffer(size: number, alignment: number): Buffer;

/**
 * Frees the memory of a buffer of {@link getAlignedBuffer} at once. Its length and that of its views become 0.
 *
 * @returns false, without an effect, if this thread has a request in flight that may use the buffer.
 * @throws for another buffer, a part of one, or a released one.
 */
export function release(buffer: Buffer): boolean;

/** Size, sector sizes and serial number of a block device. */
export function getBlockDevice(
  fd: number,
  callback: (error: RequestError | undefined, device: BlockDevice) => void
): void;

/** On macOS: turns the cache for `fd` off (1) or on (0). Throws elsewhere. */
export function setF_NOCACHE(fd: number, value: 0 | 1, callback: (error: RequestError | undefined) => void): void;

/** Takes (1) or releases (0) the exclusive advisory lock on a file, without waiting. Throws on Windows. */
export function setFlock(fd: number, value: 0 | 1, callback: (error: RequestError | undefined) => void): void;

/** On Windows: locks (1) or unlocks (0) a volume. Throws elsewhere. */
export function setFSCTL_LOCK_VOLUME(
  fd: number,
  value: 0 | 1,
  callback: (error: RequestError | undefined) => void
): void;

/** The same functions with promises. They also take a `FileHandle` of `fs.promises`. */
export namespace promises {
  /** Size, sector sizes and serial number of a block device. */
  function getBlockDevice(file: number | FileHandle): Promise<BlockDevice>;

  /** On macOS: turns the cache for `file` off (1) or on (0). Rejects elsewhere. */
  function setF_NOCACHE(file: number | FileHandle, value: 0 | 1): Promise<void>;

  /** Takes (1) or releases (0) the exclusive advisory lock on a file, without waiting. Rejects on Windows. */
  function setFlock(file: number | FileHandle, value: 0 | 1): Promise<void>;

  /** On Windows: locks (1) or unlocks (0) a volume. Rejects elsewhere. */
  function setFSCTL_LOCK_VOLUME(file: number | FileHandle, value: 0 | 1): Promise<void>;
}
