import { PassThrough } from 'node:stream';
import { useInput, usePaste } from 'ink';
import { createElement } from 'react';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keysIn } from '../../src/cli/tui/keys/key-name.ts';
import { render } from '../../src/cli/tui/render.ts';
import { type MouseEvent, TerminalInput } from '../../src/cli/tui/terminal-input.ts';

/** What terminals send besides plain keys, and what programs took it for. */
const esc = '\u001b';
/** Typed after each case: what comes before it is all that the case typed. */
const last = 'ö';

let seen: string[] = [];
const clicks: MouseEvent[] = [];
let input: TerminalInput;
let app: ReturnType<typeof render>;

function Keys() {
  useInput((text, key) => seen.push(...keysIn(text, key).map(([name]) => name)));
  usePaste((text) => seen.push(`pasted ${text}`));
  return null;
}

beforeAll(() => {
  const terminal = { setRawMode: () => terminal, ref: () => terminal, unref: () => terminal } as never;
  input = new TerminalInput(terminal, (event) => clicks.push(event));
  const stdout = Object.assign(new PassThrough(), { columns: 80, rows: 24, isTTY: true });
  stdout.resume();
  app = render(createElement(Keys), {
    stdin: input as never,
    stdout: stdout as never,
    exitOnCtrlC: false,
    patchConsole: false,
  });
});

afterAll(() => app.unmount());

async function typedBy(chunks: readonly string[]): Promise<string[]> {
  seen = [];
  for (const chunk of chunks) input.write(chunk);
  input.write(last);
  await expect.poll(() => seen.at(-1)).toBe(last);
  return seen.slice(0, -1);
}

test.each<[cite: string, what: string, chunks: string[], keys: string[]]>([
  ['openai/codex#9069', 'a key that is released', [`${esc}[110;1:3u`], []],
  ['openai/codex#9069', 'an arrow that is released', [`${esc}[1;1:1A${esc}[1;1:3A`], ['up']],
  ['anthropics/claude-code#39330', 'Caps Lock', [`${esc}[57358u`], []],
  ['derailed/k9s#3885', 'the colour of the background', [`${esc}]11;rgb:1d1d/1f1f/2121${esc}\\`], []],
  ['derailed/k9s#3885', 'the same with a bell', [`${esc}]10;rgb:ffff/ffff/ffff\u0007`], []],
  ['derailed/k9s#3885', 'the place of the cursor', [`${esc}[12;40R`], []],
  ['juspay/kolu#103', 'an answer in two pieces', [`${esc}]11;rgb:1d1d/`, `1f1f/2121${esc}\\`], []],
  ['juspay/kolu#103', 'one between its last two bytes', [`${esc}]12;rgb:1d1d/1f1f/2121${esc}`, '\\'], []],
  ['laurigates/dotfiles#44', 'an answer of kitty', [`${esc}P@kitty-cmd{"ok": true}${esc}\\`], []],
  ['google-gemini/gemini-cli#10121', 'an answer that is cut off', [`${esc}]11;rgb:1d`, 'q', 'j'], ['q', 'j']],
  ['google-gemini/gemini-cli#10121', 'then an arrow', [`${esc}P>|kit`, `${esc}[A`], ['up']],
  [
    'google-gemini/gemini-cli#10121',
    'Alt with keys that begin answers',
    [`${esc}]`, `${esc}P`],
    ['alt-]', 'alt-P'],
  ],
  ['herdrdev/herdr#4401', 'Shift-Enter of kitty', [`${esc}[13;2u`], ['shift-enter']],
  ['herdrdev/herdr#4401', 'Shift-Enter of xterm', [`${esc}[27;2;13~`], ['shift-enter']],
  ['herdrdev/herdr#4401', 'Ctrl-Enter', [`${esc}[13;5u`], ['ctrl-enter']],
  ['LionSR/TeXRA#5410', 'the same with an event and text', [`${esc}[13;2:1;13u`], ['shift-enter']],
  ['LionSR/TeXRA#4517', 'Enter of the number pad', [`${esc}[57414u`], ['enter']],
  ['LionSR/TeXRA#4517', 'digits of the number pad', [`${esc}[57400u${esc}[57408;129u`], ['1', '9']],
  [
    'earendil-works/pi#411',
    'Shift with what has no upper case',
    [`${esc}[32;2u${esc}[127;2u`],
    ['space', 'backspace'],
  ],
  ['arcships/dimcode#13', 'Ctrl-Backspace', [`${esc}[127;5u`], ['ctrl-backspace']],
  [
    'baleen37/dotfiles#1439',
    'keys in a mode that was left on',
    [`${esc}[27;5;99~${esc}[99;5u`],
    ['ctrl-c', 'ctrl-c'],
  ],
  ['baleen37/dotfiles#1439', 'Escape in it', [`${esc}[27u${esc}[27;1:3u`], ['escape']],
  ['baleen37/dotfiles#1439', 'one in two pieces', [`${esc}[27;5`, ';99~'], ['ctrl-c']],
  ['openai/codex#35599', 'Ctrl-C on a Cyrillic layout', [`${esc}[1089::99;5u`], ['ctrl-c']],
  ['pg83/shitty#16', 'Ctrl-D on a Cyrillic layout', [`${esc}[1074::100;5:1u`], ['ctrl-d']],
  ['openai/codex#35599', 'Alt-B on a Cyrillic layout', [`${esc}[1080::98;3u`], ['alt-b']],
  [
    'kovidgoyal/kitty#3082',
    'Ctrl-C on Dvorak, Ctrl-A on AZERTY',
    [`${esc}[99::105;5u${esc}[97::113;5u`],
    ['ctrl-c', 'ctrl-a'],
  ],
  [
    'google-gemini/gemini-cli#10121',
    'Escape and a text at once',
    [`${esc}Please`, '\r'],
    ['alt-P', ...'lease', 'enter'],
  ],
  ['earendil-works/pi#718', 'a letter on a Cyrillic layout', [`${esc}[1089::99u`], ['с']],
  ['autohandai/code-cli#578', 'a letter with Shift and its alternative', [`${esc}[97:65;2u`], ['A']],
  ['ab5tract/Terminal-Print#67', 'clicks of urxvt', [`${esc}[M [K${esc}[M#[K`], []],
  ['ab5tract/Terminal-Print#67', 'one in two pieces', [`${esc}[M `, '[K'], []],
  ['gnachman/iTerm2#82', 'the wheel beyond column 95', [`${esc}[M\u0060\u007f!`], []],
])('%s: %s', async (_cite, _what, chunks, keys) => {
  expect(await typedBy(chunks)).toEqual(keys);
});

test('clicks and the wheel are told, however they are reported', () => {
  expect(clicks).toEqual([
    { kind: 'click', x: 58, y: 42 },
    { kind: 'click', x: 58, y: 42 },
    { kind: 'wheel-up', x: 94, y: 0 },
  ]);
});
