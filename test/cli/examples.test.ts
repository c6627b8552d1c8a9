import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCommand } from '../../src/cli/manifest/build-program.ts';
import { isNoun } from '../../src/cli/manifest/entry.ts';
import { manifest } from '../../src/cli/manifest/manifest.ts';
import { exitCodes } from '../../src/shared/errors.ts';
import { exampleOf, idleContext } from '../support/command-reference.ts';
import { ownKeysConfig } from '../support/daemon-with-stranger.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunOptions, runCli } from '../support/run-cli.ts';
import { commandsOf } from '../support/shell-lines.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson } from '../support/users.ts';

let daemon: RunningDaemon;
let fake: FakeOpenAi;
const folder = await mkdtemp(join(tmpdir(), 'gateway-examples-'));

beforeAll(async () => {
  fake = await startFakeOpenAi();
  daemon = await startDaemon({
    config: ownKeysConfig.replace('http://127.0.0.1:9/v1', fake.baseUrl),
    env: { OPENAI_API_KEY: 'sk-example-0123456789abcdef' },
  });
  await addPerson(daemon, 'ann');
  for (const args of made) {
    const { code, stderr } = await run(args, { stdin: '' });
    if (code !== exitCodes.done) throw new Error(`${args.join(' ')}: ${stderr}`);
  }
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
  await rm(folder, { recursive: true });
});

const run = (args: string[], options: RunOptions = {}) =>
  runCli(args, {
    ...options,
    env: {
      GATEWAY_HOME: daemon.home,
      OPENAI_API_KEY: 'sk-example-0123456789abcdef',
      ATTIC_KEY: 'gwk_example',
      VAULT_PASSPHRASE: 'example',
      ...options.env,
    },
  });

/** What a path like `.key.id` selects in the JSON of a command. */
async function get(args: string[], path: string): Promise<string> {
  const { code, stdout, stderr } = await run([...args, '--json']);
  if (code !== exitCodes.done) throw new Error(`${args.join(' ')}: ${stderr}`);
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any command.
  return path.match(/\w+/g)?.reduce((value: any, key) => value[key], JSON.parse(stdout));
}

const respond = ['respond', '-n', '--model', 'sim/echo', 'Hello.'];
/** What stands for an id in examples, and what makes such an id. */
const ids: Record<string, () => Promise<string>> = {
  'key_01jd…': () => get(['keys', 'issue', '--name', 'example'], '.key.id'),
  'req_01jd…': () => get(['traces', '--limit', '1'], '.[0].request_id'),
  'resp_01jd…': () => get([...respond, '--background'], '.id'),
  'th_01jd…': () => get(['threads', 'create', 'Example'], '.id'),
  'run_01jd…': () => get(['autopilots', 'run', 'night-watch', '-n', 'Hello.'], '.id'),
  'inv_01jd…': () => get(['invoice', 'create', '10'], '.id'),
  'lnbc15u1…': () => get(['invoice', 'create', '1500'], '.paymentRequest'),
  'pay_01jd…': async () => {
    const invoice = await get(['invoice', 'create', '10'], '.paymentRequest');
    return get(['pay', invoice, '--max-sats', '10'], '.paymentId');
  },
  'tok_01jd…': () => get(['tokens', 'create', 'example'], '.id'),
  'invite_01jd…': () => get(['workspaces', 'invite'], '.invitation.id'),
  '42': () => get(['shouts', 'post', 'Hello.'], '.id'),
};

/** What examples name. */
const made = [
  ['wallet', 'create'],
  ['wallet', 'faucet', '--sats', '10000'],
  respond,
  ['peer', 'add', 'attic', 'http://127.0.0.1:9'],
  ['alerts', 'add', 'slow', 'p95_total', '8s', '--webhook', 'http://127.0.0.1:9/in'],
  ['budgets', 'set', 'team-search', '5/day'],
  [
    'autopilots',
    'create',
    'Night watch',
    '--handle',
    'night-watch',
    '--policy',
    '{"model":"sim/echo"}',
    '--schedule',
    '@daily',
    '--input',
    'News?',
  ],
  ['workspaces', 'create', 'Research'],
  ['workspaces', 'create', 'Laboratory'],
  [
    'paywalls',
    'create',
    '--upstream',
    'https://example.com',
    '--price',
    '10',
    '--name',
    'weather',
    '--path',
    '/weather',
  ],
  ['keys', 'issue', '--name', 'ci'],
  ['keys', 'issue', '--name', 'my-app'],
];

/** Piped into examples. */
const inputs: Record<string, string> = {
  compact: '[{"role":"user","content":"Hello."}]',
  embed: 'One\nTwo',
  'decide ask': 'The invoice is wrong.',
  respond: 'diff',
};

/** What other words of examples stand for here. */
const places: Record<string, string> = {
  'labelled.jsonl': 'test/fixtures/labelled.jsonl',
  'reliability.svg': join(folder, 'reliability.svg'),
  'litellm.yaml': 'test/fixtures/litellm.yaml',
};

const examples = await Promise.all(
  Object.entries(manifest).flatMap(([noun, entry]) =>
    isNoun(entry)
      ? Object.entries(entry.verbs).map(
          async ([verb, it]) => [`${noun} ${verb}`, exampleOf(await buildCommand(it, idleContext))] as const,
        )
      : [buildCommand(entry, idleContext).then((it) => [noun, exampleOf(it)] as const)],
  ),
);

/** Names that are taken here, and models that do without a provider's probabilities. */
const others: Record<string, Record<string, string>> = {
  'users add': { ann: 'bob' },
  'decide eval': { 'openai/gpt-5-mini': 'sim/assistant' },
  'decide fit': { 'openai/gpt-5-mini': 'sim/assistant' },
  'decide remove-fit': { 'openai/gpt-5-mini': 'sim/assistant' },
  'alerts add': { slow: 'slower' },
};

/** Why an example is not run; docs/typed-commands.test.ts checks its words and options. */
const apart: Record<string, RegExp> = {
  'it needs a terminal or a browser': /^(chat|tui|open|login)$/,
  'it needs the network, another program or a library':
    /^(fetch|run|engine .*|host add|vault rotate|wallet (connect|fund|disconnect|trust-node|reconcile))$/,
  'it changes the machine or ends the daemon':
    /^(serve|stop|restore|storage copy|service .*|backup|logs|mcp|logout|profile delete|wallet import|host (use|remove))$/,
  'it needs another daemon, person or payment':
    /^(daemons remove|agents .*|workspaces (accept|leave|role|remove)|sessions revoke|payments resolve)$/,
};

/** What ends or changes what other examples need runs after them. */
const isLast = /^workspaces (create|use)$| (archive|delete|remove|remove-fit|revoke|uninvite|unset)$/;
const isFollowing = /^(tail|credit buy|.* watch)$/;
/** Of checks of servers that do not answer. */
const isUnanswered = /^(peer check|alerts test)$/;

describe.each(Object.entries(apart))('%s, so it is not run:', (_reason, names) => {
  for (const [name, example] of examples.filter(([name]) => names.test(name)))
    test.skip(`${name}: ${example}`);
});

const tried = examples.filter(([name]) => !Object.values(apart).some((names) => names.test(name)));
const [last = [], first = []] = [true, false].map((is) => tried.filter(([name]) => isLast.test(name) === is));

test.each([...first, ...last])('%s: %s', async (name, example) => {
  const words = commandsOf(example)[0]?.slice(1) ?? [];
  const args = await Promise.all(
    words.map((word) => ids[word]?.() ?? others[name]?.[word] ?? places[word] ?? word),
  );
  const interrupt = isFollowing.test(name) ? AbortSignal.abort() : undefined;
  const { code, stderr } = await run(args, { stdin: inputs[name] ?? '', ...(interrupt && { interrupt }) });
  if (interrupt) expect([exitCodes.done, exitCodes.interrupted], stderr).toContain(code);
  else expect(code, stderr).toBe(isUnanswered.test(name) ? exitCodes.tryLater : exitCodes.done);
});
