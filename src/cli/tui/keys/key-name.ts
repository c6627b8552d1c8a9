import type { Key } from 'ink';

const named = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageDown', 'pagedown'],
  ['pageUp', 'pageup'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['tab', 'tab'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
] as const satisfies [keyof Key, string][];

/** What a key is called in the bindings: `j`, `J`, `ctrl-d`, `alt-enter`, `shift-tab`, `space`. */
export function keyName(input: string, key: Key): string {
  const special = named.find(([member]) => key[member])?.[1];
  const base = special ?? (input === ' ' ? 'space' : input);
  if (base === '\n') return 'ctrl-j';
  // A letter tells its shift by itself.
  const shift = key.shift && (special !== undefined || input === ' ') ? 'shift-' : '';
  const control = key.ctrl ? 'ctrl-' : '';
  // Escape alone comes with the meta flag from some terminals.
  const alt = key.meta && base !== 'escape' ? 'alt-' : '';
  return `${control}${alt}${shift}${base}`;
}

const written: Readonly<Record<string, string>> = {
  ' ': 'space',
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
};

/** The keys of one piece of input, each with what it writes: what is typed fast can come together. */
export function keysIn(input: string, key: Key): [name: string, input: string][] {
  const characters = [...input];
  if (characters.length < 2 || key.ctrl || key.meta) return [[keyName(input, key), input]];
  return characters.map((character) => [written[character] ?? character, character]);
}

const shown: Readonly<Record<string, string>> = {
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pagedown: 'PgDn',
  pageup: 'PgUp',
  enter: 'Enter',
  escape: 'Esc',
  tab: 'Tab',
  space: 'Space',
  home: 'Home',
  end: 'End',
  backspace: 'Backspace',
  delete: 'Del',
};

/** A key as people write it: `Ctrl-D`, `↑`, `Esc`. */
export function shownKey(name: string): string {
  const parts = /^((?:(?:ctrl|alt|shift)-)*)(.+)$/s.exec(name);
  const [, modifiers = '', base = name] = parts ?? [];
  const told = modifiers.replace(/[a-z]+/g, (word) => word[0]?.toUpperCase() + word.slice(1));
  // With Ctrl a letter is written large, as people do; there is no other one.
  return told + (shown[base] ?? (modifiers === 'ctrl-' ? base.toUpperCase() : base));
}
