import type { CommandName } from './command-names.ts';

/** Keys by name, as `keyName` gives them, and what each does; `''` does nothing. */
export type Bindings = Readonly<Record<string, CommandName | ''>>;

/** The keys of every view under `all`, those of one view under its name: these go first. */
export type BindingsByMode = Readonly<Record<string, Bindings>>;

export const defaultBindings: BindingsByMode = {
  all: {
    '?': 'help',
    ':': 'palette',
    '/': 'filter',
    j: 'down',
    down: 'down',
    k: 'up',
    up: 'up',
    pagedown: 'page-down',
    'ctrl-f': 'page-down',
    pageup: 'page-up',
    'ctrl-b': 'page-up',
    '<': 'top',
    home: 'top',
    '>': 'bottom',
    end: 'bottom',
    enter: 'open',
    right: 'open',
    escape: 'back',
    left: 'back',
    g: 'go',
    t: 'conversation',
    'alt-a': 'next-unread',
    'ctrl-p': 'conversations',
    tab: 'next-pane',
    'shift-tab': 'previous-pane',
    ']': 'next-tab',
    '[': 'previous-tab',
    '+': 'zoom-in',
    _: 'zoom-out',
    u: 'raw',
    y: 'copy',
    Y: 'copy-command',
    v: 'browse',
    ',': 'refresh',
    R: 'refresh',
    p: 'pause',
    space: 'mark',
    c: 'compose',
    e: 'edit',
    r: 'reply',
    'ctrl-d': 'remove',
    '@': 'log',
    'ctrl-l': 'redraw',
    'ctrl-z': 'suspend',
    q: 'quit',
    'ctrl-c': 'quit',
    ...Object.fromEntries(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [`alt-${number}`, `screen-${number}` as CommandName]),
    ),
  },
};

/** What a key does in a view; undefined when nothing. */
export function commandOf(bindings: BindingsByMode, mode: string, key: string): CommandName | undefined {
  for (const name of [mode, 'all']) {
    const own = bindings[name];
    if (own && Object.hasOwn(own, key)) return own[key] || undefined;
  }
  return undefined;
}

/** The keys that do something in a view, in the order in which they were bound. */
export function keysOf(bindings: BindingsByMode, mode: string, command: CommandName): string[] {
  const keys = [...Object.keys(bindings[mode] ?? {}), ...Object.keys(bindings.all ?? {})];
  return [...new Set(keys)].filter((key) => commandOf(bindings, mode, key) === command);
}
