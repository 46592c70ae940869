/// <reference types="node" />

import type { FileHandle } from 'node:fs/promises';

/**
 * Flag for `fs.open`: bypass the page cache. Buffer address, length and offset must then be multiples of the sector, or
 * the call fails with `EINVAL` on Linux. 0 on macOS, where you use {@link setF_NOCACHE} instead.
 *
 * @example
 * const fd = fs.openSync('journal', fs.constants.O_RDWR | fs.constants.O_CREAT | O_DIRECT);
 * fs.writeSync(fd, getAlignedBuffer(4096, 4096), 0, 4096, 0);
 */
export const O_DIRECT: number;

/** Flag for `fs.open`: each write returns when its data is durable, as if followed by `fs.fdatasync`. */
export const O_DSYNC: number;

/**
 * Flag for `fs.open` of a block device on Linux: the open fails with `EBUSY` if the device is mounted or claimed by
 * another program.
 */
export const O_EXCL: number;

/** Flag for `fs.open` on macOS, FreeBSD and Windows: lock the file. 0 on Linux. */
export const O_EXLOCK: number;

/** Flag for `fs.open`: each write returns when its data and all metadata are durable, as if followed by `fs.fsync`. */
export const O_SYNC: number;

/** Properties of a block device. An unknown one is 0 or empty. */
export interface BlockDevice {
  /** Unit of addresses, in bytes. Direct I/O must be aligned to it. */
  logicalSectorSize: number;
  /** Unit of writes, in bytes. For a smaller write, the device reads first. */
  physicalSectorSize: number;
  /** Capacity, in bytes. */
  size: number;
  /** Empty if the system does not report it. */
  serialNumber: string;
}

/** Error of a call that the system refused. */
export interface RequestError extends Error {
  /** The system's name of the error, such as `EBADF`. On Windows only for a bad descriptor. */
  code?: string;
  /** The system's number of the error, negative as in Node. Not on Windows. */
  errno?: number;
  /** The failed call. */
  syscall?: string;
  /** The call and the system's message, in one line. */
  cause?: unknown;
}

/**
 * Returns a zero-filled buffer whose address is a multiple of `alignment`. The garbage collector frees its memory, or
 * {@link release} does so earlier.
 *
 * @param size Number of bytes, from 1 to 2147483647. For direct I/O, use a multiple of the sector.
 * @param alignment Number of bytes, a power of two from 8 to 4194304. 4096 works for nearly all devices.
 * @throws `ERR_INVALID_ARG_VALUE` if an argument is not a natural number, `ERR_OUT_OF_RANGE` for other wrong values,
 * `ERR_MEMORY_ALLOCATION_FAILED` if there is not enough memory, and `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM` in a runtime
 * that does not support external buffers, such as Electron.
 * @example
 * const block = getAlignedBuffer(4096, 4096);
 */
export function getAlignedBuffer(size: number, alignment: number): Buffer;

/**
 * Frees the memory of a buffer immediately, instead of waiting for the garbage collector. The length of the buffer and
 * its views becomes 0.
 *
 * @param buffer A buffer returned by {@link getAlignedBuffer}.
 * @returns false if nothing was freed, because a request in this thread may still use the buffer.
 * @throws `ERR_INVALID_ARG_VALUE` for any other buffer, for a part of one, or for one that was released before.
 */
export function release(buffer: Buffer): boolean;

/**
 * Reads the sector sizes, size and serial number of a block device.
 *
 * @param fd Descriptor of the open device. Regular files fail.
 * @param callback Receives the error (for example `EBADF`), or undefined and the device.
 * @throws `ERR_INVALID_ARG_VALUE` for wrong arguments.
 * @example
 * getBlockDevice(fs.openSync('/dev/sda'), (error, device) => console.log(error ?? device.size));
 */
export function getBlockDevice(
  fd: number,
  callback: (error: RequestError | undefined, device: BlockDevice) => void
): void;

/**
 * Switches the page cache off (1) or on again (0) for a descriptor. macOS only.
 *
 * @throws `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM` on other systems, `ERR_INVALID_ARG_VALUE` for wrong arguments.
 */
export function setF_NOCACHE(fd: number, value: 0 | 1, callback: (error: RequestError | undefined) => void): void;

/**
 * Takes (1) or releases (0) the exclusive advisory lock of a file. It does not wait: if another open file has the lock,
 * the error is `EWOULDBLOCK`. Not on Windows.
 *
 * @throws `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM` on Windows, `ERR_INVALID_ARG_VALUE` for wrong arguments.
 */
export function setFlock(fd: number, value: 0 | 1, callback: (error: RequestError | undefined) => void): void;

/**
 * Locks (1) or unlocks (0) a volume. Windows only.
 *
 * @throws `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM` on other systems, `ERR_INVALID_ARG_VALUE` for wrong arguments.
 */
export function setFSCTL_LOCK_VOLUME(
  fd: number,
  value: 0 | 1,
  callback: (error: RequestError | undefined) => void
): void;

/**
 * The same functions with promises. They also accept a `FileHandle` of `fs.promises`, and reject instead of throwing.
 */
export namespace promises {
  /** Reads the sector sizes, size and serial number of a block device. */
  function getBlockDevice(file: number | FileHandle): Promise<BlockDevice>;

  /** Switches the page cache off (1) or on again (0) for a file. macOS only. */
  function setF_NOCACHE(file: number | FileHandle, value: 0 | 1): Promise<void>;

  /** Takes (1) or releases (0) the exclusive advisory lock of a file, but does not wait for it. Not on Windows. */
  function setFlock(file: number | FileHandle, value: 0 | 1): Promise<void>;

  /** Locks (1) or unlocks (0) a volume. Windows only. */
  function setFSCTL_LOCK_VOLUME(file: number | FileHandle, value: 0 | 1): Promise<void>;
}
