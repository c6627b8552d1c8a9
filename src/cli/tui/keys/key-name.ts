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

/** The name of a key in the bindings: `j`, `J`, `ctrl-d`, `alt-enter`, `shift-tab`, `space`. */
export function keyName(input: string, key: Key): string {
  const special = named.find(([member]) => key[member])?.[1];
  const base = special ?? (input === ' ' ? 'space' : input);
  if (base === '\n') return 'ctrl-j';
  // An upper-case letter already implies Shift, which means nothing with what deletes.
  const shift = key.shift && special !== undefined && !/^(backspace|delete)$/.test(special) ? 'shift-' : '';
  const control = key.ctrl ? 'ctrl-' : '';
  // Some terminals send a lone Escape with the meta flag.
  const alt = key.meta && base !== 'escape' ? 'alt-' : '';
  return `${control}${alt}${shift}${base}`;
}

const controlKeys: Readonly<Record<string, string>> = {
  ' ': 'space',
  '\r': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
};

/**
 * Splits one chunk of input into keys with the text that each types: fast typing, or a program that types, sends several keys
 * in one chunk, and control keys among them.
 */
export function keysIn(input: string, key: Key): [name: string, input: string][] {
  const characters = [...input];
  if (characters.length > 1 && !key.ctrl && !key.meta)
    return characters.map((character) => [controlKeys[character] ?? controlName(character), character]);
  const name = keyName(input, key);
  // Such as Caps Lock.
  return name === '' ? [] : [[name, input]];
}

/** `ctrl-u` for U+0015; other characters are their own names. */
function controlName(character: string): string {
  const code = character.charCodeAt(0);
  return code >= 1 && code <= 26 ? `ctrl-${String.fromCharCode(code + 96)}` : character;
}

const labels: Readonly<Record<string, string>> = {
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

/** A key as shown to the user: `Ctrl-D`, `↑`, `Esc`. */
export function keyLabel(name: string): string {
  const parts = /^((?:(?:ctrl|alt|shift)-)*)(.+)$/s.exec(name);
  const [, modifiers = '', base = name] = parts ?? [];
  const prefix = modifiers.replace(/[a-z]+/g, (word) => word[0]?.toUpperCase() + word.slice(1));
  // Ctrl does not distinguish case, and its letters are usually written in upper case.
  return prefix + (labels[base] ?? (modifiers === 'ctrl-' ? base.toUpperCase() : base));
}
