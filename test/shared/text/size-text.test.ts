import { expect, test } from 'vitest';
import { sizeText } from '../../../src/shared/text/size-text.ts';

test.each([
  [0, '0 B'],
  [512, '512 B'],
  [67_100, '65.5 KiB'],
  [32 * 1024 ** 2, '32 MiB'],
  [1024 ** 3, '1 GiB'],
  [1024 ** 2 - 1, '1 MiB'],
  [203e6, '194 MiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
