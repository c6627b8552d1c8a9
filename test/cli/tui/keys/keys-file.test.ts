import { describe, expect, test } from 'vitest';
import { commandOf, keysOf } from '../../../../src/cli/tui/keys/bindings.ts';
import { loadBindings, readBindings } from '../../../../src/cli/tui/keys/keys-file.ts';

const read = (text: string) => readBindings(text, 'keys.yaml', ['traffic', 'keys']);

test('a file adds, moves and disables keys, everywhere or on one screen', () => {
  const bindings = read("all:\n  x: remove\n  ctrl-d: ''\ntraffic:\n  x: pause\n");
  expect(commandOf(bindings, 'keys', 'x')).toBe('remove');
  expect(commandOf(bindings, 'keys', 'ctrl-d')).toBeUndefined();
  expect(commandOf(bindings, 'traffic', 'x')).toBe('pause');
  expect(commandOf(bindings, 'traffic', 'j')).toBe('down');
  expect(keysOf(bindings, 'keys', 'remove')).toEqual(['x']);
});

test('drop_defaults removes all default keys', () => {
  const bindings = read('drop_defaults: true\nall:\n  q: quit\n');
  expect(commandOf(bindings, 'keys', 'q')).toBe('quit');
  expect(commandOf(bindings, 'keys', 'j')).toBeUndefined();
});

test('an empty or missing file changes nothing', () => {
  expect(commandOf(read(''), 'keys', 'j')).toBe('down');
  expect(commandOf(loadBindings('/nonexistent/keys.yaml', []), 'keys', 'j')).toBe('down');
});

describe('a problem is reported with its line', () => {
  test.each([
    ['all:\n  x: vanish\n', 'line 2: x: unknown command vanish'],
    ['nowhere:\n  x: quit\n', 'line 1: unknown screen nowhere'],
    ['drop_defaults: maybe\n', 'line 1: drop_defaults must be true or false'],
    ['all: quit\n', 'line 1: expected keys'],
    ['- quit\n', 'line 1: expected screens'],
    ['all:\n  x: [\n', 'line 3'],
    ['all:\n  x: 1\ntraffic:\n  y: 2\n', /line 2: x: .*\n.*line 4: y: /],
  ])('%j', (text, wanted) => {
    expect(() => read(text)).toThrow(wanted);
  });
});
