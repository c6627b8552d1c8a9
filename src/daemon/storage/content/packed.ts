import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Compressing less than this gains nothing. */
const compressedBytesMin = 160;
const forms = { plain: 0, zstd: 1 };
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Compresses a part where that makes it smaller; the first byte tells its form. */
export function pack(part: Uint8Array): Buffer {
  if (part.length >= compressedBytesMin) {
    const compressed = zstdCompressSync(part, options);
    if (compressed.length < part.length) return Buffer.concat([Buffer.of(forms.zstd), compressed]);
  }
  return Buffer.concat([Buffer.of(forms.plain), part]);
}

export function unpack(packed: Uint8Array): Buffer {
  const rest = packed.subarray(1);
  return packed[0] === forms.zstd ? zstdDecompressSync(rest) : Buffer.from(rest);
}
