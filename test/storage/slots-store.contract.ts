import { describe, expect, test } from 'vitest';
import type { OpenStorage } from './records.ts';

export function slotsStoreContract(open: OpenStorage): void {
  const one = { name: 'provider ollama', calls: 1 };
  const two = { name: 'model ollama/llama3', calls: 2 };

  describe('slots of concurrent calls', () => {
    test('are taken together or not at all, and given back', async () => {
      const { slots } = await open();
      const first = await slots.take([one, two]);
      expect(first).toEqual({ taken: [expect.any(Number), expect.any(Number)], elsewhere: [0, 0] });
      expect(await slots.take([one, two])).toEqual({ taken: undefined, elsewhere: [0, 0] });
      const other = await slots.take([two]);
      expect(other.taken).toHaveLength(1);
      expect((await slots.take([two])).taken).toBeUndefined();
      await slots.release(first.taken ?? []);
      expect((await slots.take([one])).taken).toHaveLength(1);
    });

    test('that are due to this daemon are not elsewhere', async () => {
      const { slots } = await open();
      await slots.take([one]);
      await slots.take([one]);
      expect(await slots.elsewhere([one.name, two.name])).toEqual([0, 0]);
      await slots.leave([one.name]);
      expect((await slots.take([one])).taken).toBeUndefined();
    });

    test('of a daemon that is gone are free', async () => {
      const { slots, daemons } = await open();
      await slots.take([one]);
      expect(await slots.releaseLeft(daemons.own + 1)).toBe(0);
      expect(await slots.releaseLeft(daemons.own)).toBe(1);
      expect((await slots.take([one])).taken).toHaveLength(1);
    });
  });
}
