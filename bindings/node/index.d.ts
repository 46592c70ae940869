/// <reference types="node" />

import type { FileHandle } from 'node:fs/promises';

/** Flag of `fs.open`: past the page cache. 0 on macOS, where {@link setF_NOCACHE} is the nearest to it. */
export const O_DIRECT: number;

/** Flag of `fs.open`: a write returns when its data is durable. */
export const O_DSYNC: number;

/** Flag of `fs.open` for block devices on Linux: fails with `EBUSY` if it is mounted or held. */
export const O_EXCL: number;

/** Flag of `fs.open` on macOS, FreeBSD and Windows: locked when it is opened. 0 on Linux. */
export const O_EXLOCK: number;

/** Flag of `fs.open`: a write returns when its data, and all that is known of the file, is durable. */
export const O_SYNC: number;

/** What a device says of itself. What is unknown is 0, or empty. */
export interface BlockDevice {
  /** The unit of its addresses, in bytes. */
  logicalSectorSize: number;
  /** What it writes at once, in bytes. */
  physicalSectorSize: number;
  /** All of it, in bytes. */
  size: number;
  /** What tells it from others of its model. */
  serialNumber: string;
}

/** The properties of the error of a failed call. */
export interface RequestError extends Error {
  /** The system's name for it, such as `EBADF`. Not on Windows. */
  code?: string;
  /** The system's number for it, negative as in Node's own errors. Not on Windows. */
  errno?: number;
  /** The failed call. */
  syscall?: string;
  /** The call and what the system said, in one line. */
  cause?: unknown;
}

/**
 * A zero-filled buffer that begins at a multiple of `alignment`, a power of two from 8 to 4194304.
 *
 * @throws if an argument is none of these, or there is no memory, or the runtime allows no external buffers.
 */
export function getAlignedBuffer(size: number, alignment: number): Buffer;

/**
 * Frees the memory of a buffer of {@link getAlignedBuffer} at once: its length is 0 afterwards, and that of its views.
 *
 * @returns false, with nothing done, if a request that may use it is under way in this thread.
 * @throws if it is no such buffer, a part of one, or was released already.
 */
export function release(buffer: Buffer): boolean;

/** Size, sector sizes and serial number of the block device that `fd` is. */
export function getBlockDevice(
  fd: number,
  callback: (error: RequestError | undefined, device: BlockDevice) => void
): void;

/** On macOS: turns caching of what goes through `fd` off (1) or on (0). Throws elsewhere. */
export function setF_NOCACHE(fd: number, value: 0 | 1, callback: (error: RequestError | undefined) => void): void;

/** Takes (1) or gives back (0) the exclusive advisory lock on a file, without waiting. Throws on Windows. */
export function setFlock(fd: number, value: 0 | 1, callback: (error: RequestError | undefined) => void): void;

/** On Windows: locks (1) or unlocks (0) a volume. Throws elsewhere. */
export function setFSCTL_LOCK_VOLUME(
  fd: number,
  value: 0 | 1,
  callback: (error: RequestError | undefined) => void
): void;

/** The same functions, which answer through a promise and also take a `FileHandle` of `fs.promises`. */
export namespace promises {
  /** Size, sector sizes and serial number of the block device that `file` is. */
  function getBlockDevice(file: number | FileHandle): Promise<BlockDevice>;

  /** On macOS: turns caching of what goes through `file` off (1) or on (0). Rejects elsewhere. */
  function setF_NOCACHE(file: number | FileHandle, value: 0 | 1): Promise<void>;

  /** Takes (1) or gives back (0) the exclusive advisory lock on a file, without waiting. Rejects on Windows. */
  function setFlock(file: number | FileHandle, value: 0 | 1): Promise<void>;

  /** On Windows: locks (1) or unlocks (0) a volume. Rejects elsewhere. */
  function setFSCTL_LOCK_VOLUME(file: number | FileHandle, value: 0 | 1): Promise<void>;
}
