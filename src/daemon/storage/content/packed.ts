import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { freeMemory } from '../../runtime/own-memory.ts';

/** Compressing less than this takes longer than all else that is done with it. */
const compressedBytesMin = 1_024;
const forms = { plain: 0, zstd: 1 };
/** Added to the form of a part from which something was deleted. */
const cutBit = 2;
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Compresses a part where that makes it smaller; the first byte is its form, and whether something was deleted from it. */
export function pack(part: Uint8Array, { isCut = false } = {}): Buffer {
  const bit = isCut ? cutBit : 0;
  if (part.length >= compressedBytesMin) {
    const compressed = zstdCompressSync(part, { params, chunkSize: compressedBytesMaxOf(part.length) });
    const isSmaller = compressed.length < part.length;
    const packed = isSmaller ? inForm(forms.zstd | bit, compressed) : inForm(forms.plain | bit, part);
    freeMemory(compressed);
    return packed;
  }
  return inForm(forms.plain | bit, part);
}

export function unpack(packed: Uint8Array): Buffer {
  const rest = packed.subarray(1);
  return ((packed[0] ?? 0) & ~cutBit) === forms.zstd ? zstdDecompressSync(rest) : Buffer.from(rest);
}

/** Whether something was deleted from this part. */
export function wasCut(packed: Uint8Array): boolean {
  return ((packed[0] ?? 0) & cutBit) !== 0;
}

function inForm(form: number, bytes: Uint8Array): Buffer {
  const packed = Buffer.allocUnsafe(1 + bytes.length);
  packed[0] = form;
  packed.set(bytes, 1);
  return packed;
}

/** The most that zstd makes of so many bytes, so that it needs no second buffer. */
function compressedBytesMaxOf(length: number): number {
  return length + Math.ceil(length / 256) + 64;
}
