/** Every command that a key can run, in the order of the help page, with its description. */
export const commands = {
  help: 'show the keys of this screen',
  palette: 'run a command by name',
  filter: 'filter rows; !TEXT hides matching rows',
  sort: 'sort by the next column',
  'sort-reverse': 'sort the other way around',
  down: 'next row',
  up: 'previous row',
  'page-down': 'page down',
  'page-up': 'page up',
  top: 'go to the top',
  bottom: 'go to the bottom',
  open: 'open the row',
  back: 'back',
  go: 'go to a screen by its letter',
  conversation: 'open the conversation with this person',
  'next-unread': 'open the next unread whispers',
  conversations: 'find a conversation by name',
  'next-pane': 'next pane',
  'previous-pane': 'previous pane',
  'next-tab': 'next tab or screen',
  'previous-tab': 'previous tab or screen',
  'zoom-in': 'show only the list',
  'zoom-out': 'show all panes',
  'next-row': 'open the next row',
  'previous-row': 'open the previous row',
  'next-match': 'next match on the page',
  'previous-match': 'previous match on the page',
  raw: 'show the row as JSON',
  copy: 'copy the ID or text of the row',
  'copy-command': 'copy the row as a gateway command',
  compare: 'what changed between two marked rows, or since the row before',
  'copy-curl': 'copy the call as a curl command',
  browse: 'open the API reference in the browser',
  refresh: 'reload',
  pause: 'pause or resume the list',
  mark: 'mark or unmark the row',
  compose: 'create something new',
  edit: 'edit the row',
  reply: 'reply',
  remove: 'revoke or delete the marked rows or this one',
  log: 'show the API calls of this program',
  redraw: 'redraw the screen',
  suspend: 'suspend to the shell; fg resumes',
  quit: 'quit',
  'screen-1': 'first screen',
  'screen-2': 'second screen',
  'screen-3': 'third screen',
  'screen-4': 'fourth screen',
  'screen-5': 'fifth screen',
  'screen-6': 'sixth screen',
  'screen-7': 'seventh screen',
  'screen-8': 'eighth screen',
  'screen-9': 'ninth screen',
  'screen-10': 'tenth screen',
} as const;

export type CommandName = keyof typeof commands;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

/** Commands by key, named as `keyName` names them; `''` disables a key. */
export type Bindings = Readonly<Record<string, CommandName | ''>>;

/** The keys of every screen under `all`, those of one screen under its ID, which take precedence. */
export type BindingsByScreen = Readonly<Record<string, Bindings>>;

export const defaultBindings: BindingsByScreen = {
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
    J: 'next-row',
    K: 'previous-row',
    s: 'sort',
    S: 'sort-reverse',
    n: 'next-match',
    N: 'previous-match',
    u: 'raw',
    y: 'copy',
    Y: 'copy-command',
    C: 'copy-curl',
    D: 'compare',
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
    ...screenKeys(''),
    ...screenKeys('alt-'),
  },
};

function screenKeys(prefix: string): Bindings {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  return Object.fromEntries(
    numbers.map((number) => [prefix + screenDigit(number), `screen-${number}` as CommandName]),
  );
}

/** The digit that opens a screen, by its position: none for the first one, the Overview, and after the tenth of the others. */
export function screenDigit(index: number): string {
  return index >= 1 && index <= 10 ? String(index % 10) : '';
}

/** The command that a key runs on a screen. */
export function commandOf(bindings: BindingsByScreen, screen: string, key: string): CommandName | undefined {
  for (const name of [screen, 'all']) {
    const own = bindings[name];
    if (own && Object.hasOwn(own, key)) return own[key] || undefined;
  }
  return undefined;
}

/** The keys that run a command on a screen, in the order in which they were bound. */
export function keysOf(bindings: BindingsByScreen, screen: string, command: CommandName): string[] {
  const keys = [...Object.keys(bindings[screen] ?? {}), ...Object.keys(bindings.all ?? {})];
  return [...new Set(keys)].filter((key) => commandOf(bindings, screen, key) === command);
}
