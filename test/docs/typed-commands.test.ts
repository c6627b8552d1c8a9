import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createContext } from '../../src/cli/context.ts';
import { buildCommand } from '../../src/cli/manifest/build-program.ts';
import { commandIndex } from '../../src/cli/manifest/command-index.ts';
import { locate } from '../../src/cli/manifest/locate.ts';
import { commandsOf } from '../support/shell-lines.ts';

const names = [
  'README.md',
  ...(await readdir('docs')).filter((it) => it.endsWith('.md')).map((it) => `docs/${it}`),
];

const silent = { write: () => true, isTty: false };
const context = createContext({
  io: {
    stdout: silent,
    stderr: silent,
    lasting: () => ({ stdout: silent, stderr: silent, close: async () => {} }),
    stdin: {
      isTty: false,
      read: async () => new Uint8Array(),
      readLine: async () => undefined,
      lines: async function* () {},
      readHidden: async () => '',
    },
    columns: () => 80,
    rows: () => 24,
  },
  env: {},
  platform: 'linux',
  home: '/nowhere',
  commands: commandIndex,
  now: Date.now,
  sleep: async () => {},
  interrupted: () => new AbortController().signal,
  serve: () => Promise.reject(new Error('no daemon is started')),
});

const shellOf = (text: string) =>
  [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```/gm)]
    .filter(([, , language = '']) => ['', 'sh', 'bash'].includes(language))
    .flatMap(([, , , block = '']) => block.replaceAll(/\\\n/g, ' ').split('\n'));

const typed = (
  await Promise.all(
    names.map(async (name) =>
      shellOf(await readFile(name, 'utf8'))
        .flatMap(commandsOf)
        .map(([, ...words]) => [name, words.join(' '), words] as const),
    ),
  )
).flat();

test('the guides contain commands', () => {
  expect(typed.length).toBeGreaterThan(100);
});

test.each(typed)('%s: gateway %s', async (_name, _line, words) => {
  const { command: verb, rest } = locate([...words]);
  if (verb === undefined) return expect(words.join(' ')).toMatch(/^(--version|help exit-codes|--help)$/);
  const command = await buildCommand(verb, context);
  const { operands, unknown } = command.parseOptions(rest);
  expect(unknown).toEqual([]);
  const { registeredArguments: taken } = command;
  if (!taken.at(-1)?.variadic) expect(operands.length).toBeLessThanOrEqual(taken.length);
  expect(operands.length).toBeGreaterThanOrEqual(taken.filter(({ required }) => required).length);
});
