import { expect, test } from 'vitest';
import { pack, unpack } from '../../../src/daemon/storage/content/packed.ts';

test.each([0, 1, 500, 5_000, 100_000])('%i bytes are packed and unpacked', (length) => {
  const part = Buffer.from('{"role":"user"} '.repeat(length)).subarray(0, length);
  const packed = pack(part);
  expect(unpack(packed)).toEqual(Buffer.from(part));
  expect(packed.length).toBeLessThan(length > 1_000 ? length / 4 : length + 2);
});
