import { expect, test } from 'vitest';
import { WireWindows } from '../../../../src/daemon/features/capture/index.ts';

test('a window is open until its time, for its key alone, and is replaced by the next of that key', () => {
  let now = 0;
  const wires = new WireWindows(() => now);
  expect(wires.isOpen('ws_1', 'key_1')).toBe(false);
  wires.open('ws_1', { keyId: 'key_1', until: 100 });
  wires.open('ws_1', { keyId: 'key_1', until: 50 });
  wires.open('ws_2', { keyId: null, until: 10 });
  expect(wires.of('ws_1')).toEqual([{ keyId: 'key_1', until: 50 }]);
  const open = () =>
    ['key_1', 'key_2', null].map((key) => [wires.isOpen('ws_1', key), wires.isOpen('ws_2', key)]);
  expect(open()).toEqual([
    [true, true],
    [false, true],
    [false, true],
  ]);
  now = 10;
  expect(open().flat().filter(Boolean)).toEqual([true]);
  now = 50;
  expect(wires.of('ws_1')).toEqual([]);
});
