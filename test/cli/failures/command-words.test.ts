import { expect, test } from 'vitest';
import { inCommandWords, inputFor } from '../../../src/cli/failures/command-words.ts';
import { buildCommand } from '../../../src/cli/manifest/build-program.ts';
import { type CommandEntry, isNoun } from '../../../src/cli/manifest/entry.ts';
import { manifest } from '../../../src/cli/manifest/manifest.ts';
import { idleContext } from '../../support/command-reference.ts';

const commands = Object.entries(manifest).flatMap(([noun, entry]): [string, CommandEntry][] =>
  isNoun(entry) ? Object.entries(entry.verbs).map(([verb, it]) => [`${noun} ${verb}`, it]) : [[noun, entry]],
);

async function inputsOf(command: CommandEntry): Promise<string[]> {
  const { options, registeredArguments } = await buildCommand(command, idleContext);
  return [
    ...options.flatMap(({ long }) => long ?? []),
    ...registeredArguments.map((argument) => `<${argument.name()}>`),
  ];
}

/** Path parameters that no one types: there is one wallet backend. */
const untyped: Record<string, string[]> = { 'wallet disconnect': ['backend'] };

test('what a path names is what the user of the command typed', async () => {
  for (const [words, command] of commands) {
    const inputs = await inputsOf(command);
    for (const { path } of [command.endpoint ?? []].flat()) {
      const names = [...path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name);
      for (const name of names.filter((one) => one !== 'workspace' && !untyped[words]?.includes(one)))
        expect.soft(inputFor(name, inputs), `${words}: ${name}`).toBeDefined();
    }
  }
});

test.each([
  ['alerts add', '`window_minutes` must be a multiple of 15.', '--window must be a multiple of 15.'],
  ['alerts add', '`webhook_url` is no address.', '--webhook is no address.'],
  [
    'alerts test',
    '`id` must be the name of an alert with a web hook.',
    '<alert> must be the name of an alert with a web hook.',
  ],
  ['budgets set', '`usd` is too much.', '<amount/period> is too much.'],
  ['capture wire', '`minutes` must be at most 60.', '--for must be at most 60.'],
  ['pay', '`maxAmountMsats` is too low.', '--max-sats is too low.'],
  ['invoice create', '`amountSats` must be positive.', '<sats> must be positive.'],
  ['paywalls create', '`match` overlaps another paywall.', '--path overlaps another paywall.'],
  ['autopilots create', '`displayName` is empty.', '<name> is empty.'],
  ['whispers send', '`recipientHandle` is unknown.', '<person> is unknown.'],
  ['calls list', '`q` is too long.', '<query> is too long.'],
  ['keys limits', '`requests_per_minute` must be positive.', '--rpm must be positive.'],
  ['keys issue', '`nosuch` stays as it is.', '`nosuch` stays as it is.'],
])('%s: “%s” is “%s”', async (words, sentence, expected) => {
  const command = commands.find(([name]) => name === words)?.[1] as CommandEntry;
  expect(inCommandWords(sentence, await inputsOf(command))).toBe(expected);
});
