import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** A log starts with it, plus 1 if its checksums are of big-endian words; those of nearly all processors are not. */
const magic = 0x377f0682;

/**
 * What is wrong with the write-ahead log of a database if that would cost acknowledged commits; undefined if nothing is.
 *
 * SQLite ignores everything from the first invalid frame on, because a power cut may interrupt the last commit, and deletes
 * the file later. Each commit is flushed before the next one is written, so a commit after the invalid frame that is itself
 * followed by another frame was acknowledged: then the frame was not interrupted but damaged.
 *
 * Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function walDamage(file: string): string | undefined {
  const log = `${file}-wal`;
  if (!existsSync(log) || statSync(log).size < headerBytes) return undefined;
  const handle = openSync(log, 'r');
  try {
    return damageIn(handle, pageSize(file));
  } finally {
    closeSync(handle);
  }
}

function damageIn(handle: number, pageBytes: number): string | undefined {
  const header = Buffer.alloc(headerBytes);
  readSync(handle, header, 0, headerBytes, 0);
  const extra = header.readUInt32BE(0) - magic;
  const isLittleEndian = extra !== 1;
  const sumOf = (seed: Sum, bytes: Buffer) => checksum(seed, bytes, isLittleEndian);
  const isHeaderSound =
    (extra === 0 || extra === 1) && same(sumOf([0, 0], header.subarray(0, 24)), sumAt(header, 24));

  const frame = Buffer.alloc(frameHeaderBytes + pageBytes);
  let salts = isHeaderSound ? header.subarray(16, 24) : undefined;
  let previous = sumAt(header, 24);
  let invalid = isHeaderSound ? undefined : 'its header';
  let isCommitAfterInvalid = false;
  let at = headerBytes;
  for (let number = 1; readSync(handle, frame, 0, frame.length, at) === frame.length; number += 1) {
    at += frame.length;
    // Without a header, the first frame's salts mark those that belong together.
    salts ??= Buffer.from(frame.subarray(8, 16));
    const sum = sumAt(frame, 16);
    const content = frame.subarray(frameHeaderBytes);
    const isValid =
      frame.subarray(8, 16).equals(salts) && same(sumOf(sumOf(previous, frame.subarray(0, 8)), content), sum);
    if (!isValid) invalid ??= `frame ${number}`;
    else if (isCommitAfterInvalid) return `its write-ahead log is damaged at ${invalid}`;
    else isCommitAfterInvalid = invalid !== undefined && frame.readUInt32BE(4) > 0;
    // Each checksum continues the one stored before it, so frames after an invalid one can be checked, too.
    previous = sum;
  }
  return undefined;
}

/** A 16-bit number in the database's header, in which 1 stands for 65,536. */
function pageSize(file: string): number {
  const bytes = Buffer.alloc(2);
  const handle = openSync(file, 'r');
  readSync(handle, bytes, 0, 2, 16);
  closeSync(handle);
  const size = bytes.readUInt16BE(0);
  return size === 1 ? 65_536 : size;
}

type Sum = readonly [number, number];

function sumAt(bytes: Buffer, offset: number): Sum {
  return [bytes.readUInt32BE(offset), bytes.readUInt32BE(offset + 4)];
}

function same(a: Sum, b: Sum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

function checksum([first, second]: Sum, bytes: Buffer, isLittleEndian: boolean): Sum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let a = first;
  let b = second;
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}
