import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Compressing less than this takes longer than all else that is done with it. */
const compressedBytesMin = 1_024;
const forms = { plain: 0, zstd: 1 };
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Compresses a part where that makes it smaller; the first byte is its form. */
export function pack(part: Uint8Array): Buffer {
  if (part.length >= compressedBytesMin) {
    const compressed = zstdCompressSync(part, { params, chunkSize: part.length });
    if (compressed.length < part.length) return inForm(forms.zstd, compressed);
  }
  return inForm(forms.plain, part);
}

export function unpack(packed: Uint8Array): Buffer {
  const rest = packed.subarray(1);
  return packed[0] === forms.zstd ? zstdDecompressSync(rest) : Buffer.from(rest);
}

/** In memory of its own: what is kept in Node's pool would keep all that was there for a moment. */
function inForm(form: number, bytes: Uint8Array): Buffer {
  const packed = Buffer.allocUnsafeSlow(1 + bytes.length);
  packed[0] = form;
  packed.set(bytes, 1);
  return packed;
}
