{%- if case.options.is_program %}#!/usr/bin/env node
{% endif -%}
/* {{ case.name() }}
 *
{%- for line in case.about() %}
 * {{ line }}
{%- endfor %}
 *
{%- for line in case.errors(case.throws_node()) %}
 * {{ line }}
{%- endfor %}
{%- if case.hides_eintr() %}
 * Node.js itself repeats a sync that failed with EINTR, and so hides that error.
{%- endif %}
{%- if case.options.is_stream %}
 * The producer, next(buffer), puts the next bytes of the data into a Uint8Array and returns their number, or 0 at
 * the data's end.
{%- else if !case.copies() %}
 * The data is a Buffer, another typed array or a DataView. All bytes of its memory are written.
{%- endif %}
 *
 * Node.js 18 or later, on Linux{% if case.options.is_program %}: node FILE.cjs SOURCE TARGET{% else %}.{% endif %}
 * As a module: const { {{ case.function_node() }} } = require('./FILE.cjs'), or in an ES module
 * import { {{ case.function_node() }} } from './FILE.cjs'.
{%- if case.is_direct() %}
 * The package @writebench/direct-io, for aligned memory, is in the repository of writebench: bindings/node.
{%- endif %}
 */
'use strict';

const fs = require('node:fs');
{%- if case.creates_name() && case.is_durable() %}
const { dirname } = require('node:path');
{%- endif %}
{%- if case.is_direct() %}

const { O_DIRECT, getAlignedBuffer, release } = require('@writebench/direct-io');
{%- endif %}

const { {{ case.constants_node() }} } = fs.constants;

const CHUNK = {{ case.chunk_node() }};{% if case.chunk_is_most_node() %} // the most that Linux takes in one call{% endif %}
{%- if case.is_vectored() %}
const VECTOR = {{ case.choices().vector }}; // chunks per call
{%- endif %}
{%- if case.is_direct() %}
const BLOCK = {{ case.block() }}; // with O_DIRECT, addresses, offsets and lengths are multiples of this
{%- endif %}

/** A call that writes nothing would be repeated forever. */
function some(length) {
  if (length === 0) throw new Error('EIO: nothing was written');
  return length;
}

/** Closes the file after its use. The first error counts. */
function closeAfter(fd, use) {
  try {
    use();
  } catch (error) {
    quietly(() => fs.closeSync(fd));
    throw error;
  }
  fs.closeSync(fd); // may report a late error of the filesystem, such as NFS
}

function quietly(action) {
  try {
    action();
  } catch {
    // There is an error to be reported already.
  }
}
{%- if case.options.is_atomic %}

/** Copies the mode of the replaced file, and its owner and group if permitted. */
function keepMode(fd, old) {
  if (!old.isFile()) throw new Error('the target is not a regular file');
  quietly(() => fs.fchownSync(fd, -1, old.gid));
  quietly(() => fs.fchownSync(fd, old.uid, -1));
  fs.fchmodSync(fd, old.mode & 0o777);
}
{%- endif %}
{%- if case.is_direct() %}

function openFile(path, flags, mode = 0o666) {
  try {
    return fs.openSync(path, flags | O_DIRECT, mode);
  } catch (error) {
    if (error.code !== 'EINVAL') throw error;
  }
  // A filesystem without direct I/O refuses, but has made the file.
  return fs.openSync(path, flags{% if case.creates_name() %} & ~O_EXCL{% endif %}, mode);
}

/** The rest is less than a block: through the page cache. Node cannot take O_DIRECT off an open file. */
function writeRest(fd, rest, offset) {
  const cached = fs.openSync(`/proc/self/fd/${fd}`, O_WRONLY{{ case.sync_flags_c() }});
  closeAfter(cached, () => {
    let at = 0;
    while (at < rest.length) {
      at += some(fs.writeSync(cached, rest, at, rest.length - at, offset + at));
    }
  });
}
{%- endif %}
{%- if case.fills_with_zeros() %}

/** Writes zeros: overwriting written blocks changes no metadata. */
function fillWithZeros(fd, size) {
{%- if case.is_direct() %}
  // O_DIRECT writes whole blocks from aligned memory: the excess is cut off.
  const zeros = getAlignedBuffer(64 << 10, 4096);
  const end = Math.ceil(size / 4096) * 4096;
{%- else %}
  const zeros = Buffer.alloc(64 << 10);
{%- endif %}
  let at = 0;
  while (at < {% if case.is_direct() %}end{% else %}size{% endif %}) {
    at += some(fs.writeSync(fd, zeros, 0, Math.min(zeros.length, {% if case.is_direct() %}end{% else %}size{% endif %} - at), at));
  }
{%- if case.is_direct() %}
  release(zeros);
  fs.ftruncateSync(fd, size);
{%- endif %}
  fs.fsyncSync(fd);
}
{%- endif %}
{%- include "node/source.js" %}
{%- block data %}{% endblock %}
{%- if case.creates_name() && case.is_durable() %}

/** A sync of the directory makes the file's name durable. */
function syncDirectory(path) {
  const directory = dirname(path);
  const fd = fs.openSync(directory, O_RDONLY | O_DIRECTORY);
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if (error.code === 'EINVAL' || error.code === 'EBADF') error.message += ': the directory cannot be synced here';
    throw Object.assign(error, { path: directory });
  } finally {
    fs.closeSync(fd);
  }
}
{%- endif %}

{% if case.copies() -%}
function copyFile(source, path) {
  const original = fs.openSync(source);
  try {
    const { {% if case.chooses_mode() %}mode: sourceMode, {% endif %}size } = statusOf(original, source);
{%- if case.meets_source() %}
    if (isSource(path, original)) throw new Error(`EINVAL: ${path} and ${source} are the same file`);
{%- endif %}
{%- filter indent(2) %}
{%- include "node/run.js" %}
{%- endfilter %}
  } finally {
    fs.closeSync(original);
  }
}
{%- else if case.options.is_stream -%}
{%- if case.expects() -%}
/** Space for `expected` bytes is prepared. The file ends with the data. */
{% endif -%}
function writeStream(path, next{% if case.expects() %}, expected{% endif %}) {
{%- include "node/run.js" %}
}
{%- else -%}
function writeFile(path, data) {
  const bytes = bytesOf(data);
{%- include "node/run.js" %}
}

/** Elements may have more than one byte. */
function bytesOf(data) {
  if (!ArrayBuffer.isView(data)) throw new TypeError('The data is not a Buffer, typed array or DataView');
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
{%- endif %}

module.exports = { {{ case.function_node() }} };
{%- if case.options.is_program %}
{%- if !case.copies() && !case.options.is_stream %}

/** The content of a file, in page-aligned memory of WebAssembly. */
function contentOf(path) {
  const fd = fs.openSync(path);
  try {
    const { size } = statusOf(fd, path);
    // A byte more shows a file that is longer than its status, as in /proc.
    const memory = new WebAssembly.Memory({ initial: Math.ceil((size + 1) / 65536) });
    const data = new Uint8Array(memory.buffer, 0, size + 1);
    let [at, length] = [0, 1];
    while (length > 0 && at <= size) {
      length = fs.readSync(fd, data, at, Math.min(0x7ffff000, size + 1 - at), null);
      at += length;
    }
    if (at !== size) throw new Error(`EIO: ${path} has another length than its status`);
    return data.subarray(0, size);
  } finally {
    fs.closeSync(fd);
  }
}
{%- endif %}

function main() {
  if (process.argv.length !== 4) {
    console.error(`usage: ${process.argv[1]} SOURCE TARGET`);
    return 2;
  }
  const [source, target] = process.argv.slice(2);
  try {
{%- if case.copies() %}
    const start = process.hrtime.bigint();
    copyFile(source, target);
{%- else if case.options.is_stream %}
    const original = fs.openSync(source);
{%- if case.meets_source() %}
    if (isSource(target, original)) throw new Error(`EINVAL: ${source} is the same file`);
{%- endif %}
{%- if case.expects() %}
    const { size } = fs.fstatSync(original);
{%- endif %}
    const start = process.hrtime.bigint();
    writeStream(target, (buffer) => fs.readSync(original, buffer){% if case.expects() %}, size{% endif %});
{%- else %}
    const data = contentOf(source);
    const start = process.hrtime.bigint();
    writeFile(target, data);
{%- endif %}
    const elapsed = process.hrtime.bigint() - start;
    // For `writebench run --command`: the time without the start and the reading of the source.
    const phases = process.env.WRITEBENCH_PHASES_FD;
    if (phases) fs.writeSync(Number(phases), `write ${elapsed}\n`);
    return 0;
  } catch (error) {
    console.error(`${error.path ?? target}: ${error.message}`);
    return 1;
  }
}

if (require.main === module) process.exitCode = main();
{%- endif %}
