import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { standalone } from '../../src/shared/contract/schema.ts';
import { version, versionHeader } from '../../src/shared/version.ts';
import { endpoints } from '../support/endpoints.ts';
import { runCli, temporaryHome } from '../support/run-cli.ts';

/** A host that puts what a terminal obeys into every text of every answer. */
const everyControl = String.fromCodePoint(
  ...Array.from({ length: 0xa0 }, (_, code) => code).filter((code) => code < 0x20 || code > 0x7e),
  ...[0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
);
const hostile = `\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u202e\b\tx${everyControl}`;
const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;

type Schema = Record<string, unknown> & { properties?: Record<string, Schema> };

/** A value that a schema allows, but for its texts. */
function instanceOf(schema: Schema, defs: Record<string, Schema>, depth = 0): unknown {
  const again = (inner: unknown) => instanceOf(inner as Schema, defs, depth + 1);
  if (typeof schema.$ref === 'string')
    return depth > 12 ? null : again(defs[schema.$ref.replace('#/$defs/', '')]);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (choices) return again(choices.find(({ type }) => type !== 'null') ?? choices[0]);
  if (Array.isArray(schema.allOf)) return Object.assign({}, ...schema.allOf.map(again));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      if (schema.format === 'date-time') return '2026-11-01T00:00:00Z';
      return typeof schema.pattern === 'string' && /\[0-9\]|\\d/.test(schema.pattern) ? '1' : hostile;
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema.minimum ?? 1));
    case 'boolean':
      return true;
    case 'array':
      return depth > 12 ? [] : [again(schema.items ?? {})];
    case 'null':
      return null;
    default:
      return {
        ...(schema.properties ? {} : { [hostile]: hostile }),
        ...Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, again(inner)]),
        ),
      };
  }
}

function answerOf({ result }: Endpoint): object {
  const schema = standalone(result) as Schema & { $defs?: Record<string, Schema> };
  const value = instanceOf(schema, schema.$defs ?? {}) as Record<string, unknown>;
  if ('has_more' in value) Object.assign(value, { has_more: false, next: null });
  if ('meta' in value) value.meta = { nextCursor: null, with: hostile };
  return value;
}

const patternOf = ({ path }: Endpoint) =>
  new RegExp(`^${path.replace(/\{\w+\.\.\.\}/, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);

const person = { handle: hostile, name: hostile };
/** Events of all kinds of streams, each with what any of them has. */
const events = [
  { type: 'service:route', sequence_number: 0, request_id: hostile, model: hostile, provider: hostile },
  { type: 'response.output_text.delta', delta: hostile },
  {
    type: 'request.completed',
    data: { status: hostile, error_code: hostile, model: hostile, provider: hostile },
  },
  { type: hostile, run: hostile, data: { [hostile]: hostile } },
  { type: 'run_started', run: hostile, data: { model: hostile } },
  { type: 'run_failed', run: hostile, data: { error: { message: hostile } } },
  { type: 'error', error: { code: hostile, message: hostile, param: hostile } },
].map((event, at) => ({
  created_at: '2026-11-01T00:00:00Z',
  createdAt: '2026-11-01T00:00:00Z',
  id: at + 1,
  sequence: at + 1,
  sequence_number: at,
  run: hostile,
  data: {},
  body: hostile,
  zone: hostile,
  author: person,
  sender: person,
  recipient: person,
  ...event,
}));

const soldBody = `No. ${hostile}\r\nNever.\n`;
let isFailing = false;
/** Called with each stream that is opened. */
let onStream: (path: string) => void = () => {};
const server = createServer((request, response) => {
  const { method, url = '' } = request;
  const [path = ''] = url.split('?');
  request.resume();
  response.setHeader(versionHeader, version);
  if (path === '/sold') return void response.writeHead(403, { 'content-type': 'text/plain' }).end(soldBody);
  const matching = endpoints.filter((it) => it.method === method && patternOf(it).test(path));
  const endpoint = matching.find((it) => it.path === path) ?? matching[0];
  if (isFailing || endpoint === undefined) {
    const error = { type: hostile, code: hostile, message: hostile, param: hostile, request_id: hostile };
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    return;
  }
  const streams = endpoint.stream?.always || (endpoint.stream && method === 'POST');
  if (!streams) {
    response.setHeader('content-type', 'application/json');
    return void response.end(JSON.stringify(answerOf(endpoint)));
  }
  response.setHeader('content-type', 'text/event-stream');
  onStream(path);
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
});

const env: Record<string, string> = { GATEWAY_KEY: 'gwl_mine' };

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  env.GATEWAY_HOST = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const commands = `
status
doctor
respond hello
respond --no-stream hello
respond --background hello
compact resp_1
responses get resp_1
responses list
responses watch resp_1
responses cancel resp_1
responses delete resp_1
models list
models show a/b
models refresh
rates
usage
usage req_1
traces
traces req_1
traces show req_1 --body
traces show req_1 --cost
traces show req_1 --context
traces show req_1 --wire
traces show req_1 --timing
traces show req_1 --as curl
traces show req_1 --as python
traces search hello
traces count
traces cancel req_1
usage --latency
usage series
capture
capture wire
capture clear
budgets
budgets show a
alerts
alerts show a
alerts fired
providers health
tail
cache show
cache clear
key
keys list
keys show key_1
keys issue
keys revoke key_1 --yes
keys limits get key_1
peer list
peer check attic
peer attempts
peer remove attic --yes
provider-keys list
provider-keys check openai
provider-keys delete openai --yes
vault status
whoami
sessions list
sessions revoke key_1
users list
users add ann
users login-code ann
credit show
credit grant a 1
ledger verify
workspaces list
workspaces show
workspaces members
workspaces invite
workspaces invitations
workspaces role ann member
workspaces remove ann --yes
workspaces set --name x
threads list
threads show th_1
threads create
threads watch th_1 --once
threads stop th_1
threads rename th_1 x
chats list
chats runs th_1
shouts list
shouts post hello
shouts watch
zones
whispers list
whispers list --by-person
whispers thread ann
whispers send ann hello
whispers read 1
whispers watch
autopilots list
autopilots show a
autopilots create a
autopilots archive a
tokens list
tokens create a
profile show
profile set --name a
config get
backup
reload
`
  .trim()
  .split('\n');

test.each(commands)('`gateway %s` lets no host control the terminal', async (line) => {
  env.GATEWAY_HOME = await temporaryHome();
  for (const more of [[], ['--quiet'], ['--json'], ['--jq', '..|strings']]) {
    const interrupt = new AbortController();
    const opened = new Set<string>();
    // What watches a stream has shown it once it opens it again.
    onStream = (path) => {
      const { size } = opened;
      if (opened.add(path).size === size) interrupt.abort();
    };
    const args = [...line.split(' '), ...more, '--no-color'];
    const result = await runCli(args, { env, tty: true, typed: ['y'], interrupt: interrupt.signal });
    // The line of a spinner is cleared by the program itself.
    const shown = (result.stdout + result.stderr).replaceAll('\r\u001b[2K', '');
    expect([args.join(' '), shown.match(obeyed) && JSON.stringify(shown)]).toEqual([args.join(' '), null]);
  }
});

test.each(commands)('`gateway %s` does not either when the host refuses', async (line) => {
  env.GATEWAY_HOME = await temporaryHome();
  isFailing = true;
  const args = [...line.split(' '), '--no-color'];
  const { stdout, stderr } = await runCli(args, { env, tty: true, typed: ['y'] });
  // Messages are read in a terminal at last, also those that were written to a file.
  const piped = await runCli(args, { env });
  isFailing = false;
  const shown = (stdout + stderr + piped.stderr).replaceAll('\r\u001b[2K', '');
  expect([line, shown.match(obeyed) && JSON.stringify(shown)]).toEqual([line, null]);
});

test('`gateway fetch` shows what a server answers without what a terminal obeys, and pipes every byte', async () => {
  env.GATEWAY_HOME = await temporaryHome();
  const args = ['fetch', `${env.GATEWAY_HOST}/sold`];
  const shown = await runCli(args, { env, tty: true });
  expect(shown.stdout).toContain('owned');
  expect((shown.stdout + shown.stderr).match(obeyed)).toBeNull();
  const piped = await runCli(args, { env });
  expect(piped.stderr.match(obeyed)).toBeNull();
  expect(Buffer.from(piped.stdout, 'latin1').toString()).toBe(soldBody);
});
