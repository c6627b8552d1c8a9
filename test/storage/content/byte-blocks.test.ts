import { expect, test } from 'vitest';
import { ByteBlocks } from '../../../src/daemon/storage/content/byte-blocks.ts';

const lengths = [1, 500, 40_000, 32_768, 300_000, 7, 65_536];
const filled = (length: number, value: number) => Buffer.alloc(length, value + 1);

test('pieces of any length are read as they were added, whatever was removed before', () => {
  const blocks = new ByteBlocks();
  const pieces = lengths.map((length, at) => blocks.add(filled(length, at)));
  for (const round of [0, 1, 2]) {
    const removed = pieces.filter((_, at) => at % 2 === round % 2);
    for (const piece of removed) blocks.remove(piece);
    for (const [at, piece] of pieces.entries()) {
      if (removed.includes(piece)) pieces[at] = blocks.add(filled(lengths[at] as number, at));
    }
    for (const [at, piece] of pieces.entries()) {
      expect(Buffer.from(blocks.read(piece)).equals(filled(lengths[at] as number, at))).toBe(true);
    }
  }
  for (const piece of pieces) blocks.remove(piece);
  expect(blocks.bytes).toBe(0);
});

test('a small piece that stays keeps a small part of what was removed around it', () => {
  const blocks = new ByteBlocks();
  const large = [blocks.add(filled(1_000_000, 1))];
  const small = blocks.add(filled(10, 2));
  large.push(blocks.add(filled(1_000_000, 3)));
  for (const piece of large) blocks.remove(piece);
  expect(blocks.bytes).toBeLessThan(100_000);
  expect(Buffer.from(blocks.read(small)).equals(filled(10, 2))).toBe(true);
});
