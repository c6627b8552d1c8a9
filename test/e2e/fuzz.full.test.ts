import { Ajv, type ErrorObject } from 'ajv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parameterName } from '../../src/daemon/http/validation/faults.ts';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { standalone } from '../../src/shared/contract/schema.ts';
import { expectValidAnswer, sender } from '../support/answer-checks.ts';
import { anyCharacter } from '../support/any-character.ts';
import { ownKeysConfig } from '../support/daemon-with-stranger.ts';
import { endpoints } from '../support/endpoints.ts';
import { exampleOf, placeholderIds } from '../support/example-calls.ts';
import { brokenBody, brokenText, hostileNames, hostileTexts, mutated } from '../support/hostile.ts';
import { richChats, richResponses } from '../support/rich-bodies.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { createThreadExample } from '../support/threads.ts';

let daemon: RunningDaemon;
/** An existing key. */
let keyId = '';
/** The id of an autopilot. */
let autopilotId = '';
/** A response with stored events. */
let responseId = '';
/** The request that created it. */
let requestId = '';
let thread = '';
let run = '';
let ask: ReturnType<typeof sender>['ask'];
let close: () => void;

beforeAll(async () => {
  daemon = await startDaemon({ config: ownKeysConfig });
  await fetch(`${daemon.url}/v1/workspaces/me/provider-keys/openai`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    body: JSON.stringify(richBodies.putProviderKey?.[0]),
  });
  ({ ask, close } = sender(daemon));
  const reported = await ask({ method: 'GET', path: '/v1/workspaces/me/keys' });
  keyId = JSON.parse(reported.text).data[0].id;
  const made = await ask({ path: '/api/autopilots', body: JSON.stringify({ displayName: 'Night Watch' }) });
  autopilotId = JSON.parse(made.text).data.id;
  const json = { model: 'sim/echo', input: 'Hello.', background: true, stream: true };
  const reply = await daemon.fetch('/v1/responses', { json });
  requestId = reply.headers.get('x-request-id') ?? '';
  const events = await reply.text();
  responseId = /resp_\w+/.exec(events)?.[0] ?? '';
  ({ thread = '', run = '' } = await createThreadExample(daemon));
  await ask({ path: '/api/agents/me/wallet', body: '{}' });
});

afterAll(async () => {
  close();
  await daemon.stop();
});

/** The position of an error, in the syntax of `param`. */
function placeName(error: ErrorObject, input: unknown): string | null {
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>;
  // Too many of several members, of which one is required.
  const [of] = error.keyword === 'oneOf' ? (error.schema as { required?: string[] }[]) : [];
  const keys = error.instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = missingProperty ?? additionalProperty ?? of?.required?.[0] ?? error.propertyName;
  let name = '';
  let value = input;
  for (const key of last === undefined ? keys : [...keys, last]) {
    const short = key.length > 64 ? `${key.slice(0, 64)}…` : key;
    if (Array.isArray(value)) name += `[${key}]`;
    else if (/^[\w-]+$/.test(key)) name += name === '' ? short : `.${short}`;
    else name += `[${JSON.stringify(short)}]`;
    value = (value as Record<string, unknown> | undefined)?.[key];
  }
  return name === '' ? null : name;
}

const formats = { 'date-time': true, date: true, uri: true } as const;

const ajv = new Ajv({ allErrors: true, strict: false, verbose: true, formats });

/** Where an input breaks its contract; empty when it does not. */
function faultyPlaces(schema: object): (input: unknown) => (string | null)[] {
  const check = ajv.compile(schema);
  return (input) => (check(input) ? [] : (check.errors ?? []).map((error) => placeName(error, input)));
}

const usual = {
  model: ['sim/echo'],
  input: ['Hello.', [{ role: 'user', content: 'Hello.' }]],
  messages: [[{ role: 'user', content: 'Hello.' }]],
  type: ['message', 'function', 'input_text', 'text', 'function_call', 'function_call_output', 'reasoning'],
  role: ['user', 'assistant', 'system', 'tool'],
  name: ['tool', '__proto__', 'constructor', 'toString'],
  scopes: [['responses']],
  key: ['sk-example-0123456789abcdef'],
  workspace: ['me'],
  usd: ['5', '0.25'],
};

/** Where the example of an endpoint has too few members to break. */
const richBodies: Record<string, readonly unknown[]> = {
  setLimits: [
    { spend_cap: { usd: '5', period: 'day' }, max_price: { input: '1', output: null }, models: ['sim/*'] },
    { requests_per_minute: 5, expires_at: '2099-01-01T00:00:00Z', spend_cap: null },
  ],
  setKeyDefaults: [{ cache: 'read-only', store: false, events: false }, { cache: null }],
  grantCredit: [{ workspace: 'me', usd: '0.5', note: 'A present.', reference: null }],
  putProviderKey: [{ key: 'sk-example-0123456789abcdef' }],
  putNamedProviderKey: [{ key: 'sk-example-0123456789abcdef' }],
  createBackup: [{ with_content: false }, {}],
  unlockVault: [{ passphrase: 'correct horse' }],
  rotateVault: [{ to: 'plain' }],
  createResponse: richResponses,
  compactResponse: richResponses,
  createChatCompletion: richChats,
  createThread: [{ title: 'Rain' }, {}],
  updateThread: [{ title: 'Snow' }, { title: null }],
  issueKey: [{ name: 'another', scopes: ['responses', 'usage:read'], defaults: { store: true } }],
  addUser: [{ handle: 'ann', name: 'Ann' }],
  createWorkspace: [{ name: 'Laboratory' }],
  updateWorkspace: [{ name: 'Personal', members_may_issue_keys: false }],
  createToken: [{ name: 'laptop', abilities: ['whispers:read'], expires_at: '2099-01-01T00:00:00Z' }],
  updateProfile: [{ name: 'Somebody', email: 'some@example.com', avatar: 'https://example.com/a.png' }],
  createAutopilot: [
    { displayName: 'Night Watch', policy: { model: 'sim/echo' }, profile: { principles: ['Be kind.'] } },
  ],
  updateAutopilot: [
    { displayName: 'Night Watch', status: 'disabled', policy: { l402MaxSpendMsatsPerDay: 5 } },
  ],
};

const goodBodiesOf = (endpoint: Endpoint): readonly unknown[] =>
  richBodies[endpoint.id] ?? [exampleOf(endpoint, placeholderIds).body];

/** Bodies generated from the contract with faults in them, and mutated valid bodies. */
function bodiesFor(endpoint: Endpoint): fc.Arbitrary<unknown> {
  const schema = standalone(endpoint.body);
  return fc.oneof(brokenBody(schema, { usual, oneIn: 12 }), brokenBody(schema, { usual, oneIn: 60 }), {
    weight: 4,
    arbitrary: mutated(goodBodiesOf(endpoint)),
  });
}

/** Their bodies name what must exist, or must not exist yet, or are rate-limited. */
const isOnce = ({ id }: Endpoint) =>
  [
    'addEngineModel',
    'addUser',
    'updateMember',
    'acceptInvitation',
    'deleteProfile',
    'sendWhisper',
    'postShout',
    'updateAutopilot',
    'runAutopilot',
    'runChat',
    'useFaucet',
    'createInvoice',
    'payInvoice',
    'decodeInvoice',
    'requestInvoice',
    'createPaywall',
    'updatePaywall',
    'fundWallet',
    'resolvePayment',
    'trustNode',
    'buyCredit',
    'changeConfiguration',
  ].includes(id);

// Calls without a credential are rate-limited by address, and tested elsewhere.
const withBodies = endpoints.filter(
  // Endpoints with their own error format are tested elsewhere.
  ({ id, body, access, ownFaults }) =>
    body !== undefined && access.login !== undefined && !ownFaults && !/Message/.test(id),
);
const pathOf = ({ path }: Endpoint) =>
  path
    .replace('{workspace}', 'me')
    .replace('{key}', keyId)
    .replace('{provider}', 'openai')
    .replace('{autopilot}', autopilotId)
    .replace('{backend}', 'phoenixd')
    .replace('{request_id}', requestId)
    .replace('/responses/{id}', `/responses/${responseId}`)
    .replace('/threads/{id}', `/threads/${thread}`)
    .replace('{conversationId}', thread)
    .replace('{run}', run)
    .replace(/\{\w+(\.\.\.)?\}/, 'x');
/** For each endpoint; `FUZZ_RUNS` multiplies them. */
const factor = Number(process.env.FUZZ_RUNS ?? 1);
const runs = { bodies: 80 * factor, texts: 20 * factor, queries: 40 * factor };
/** How often bodies are sent; a backup copies the database. */
const bodiesOf = ({ id }: Endpoint) => (id === 'createBackup' ? 20 * factor : runs.bodies);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Whether the parameter names a position in the input: an existing one, or a missing member of an existing one. */
function isPlaceIn(param: string, input: unknown): boolean {
  const keys = [...param.matchAll(/[^.[\]]+/g)].map(([key]) => key);
  const last = keys.pop();
  let holder = input;
  for (const key of keys) holder = (holder as Record<string, unknown> | undefined)?.[key];
  return last !== undefined && typeof holder === 'object' && holder !== null;
}

/** Whether a prototype was polluted. */
const polluted = () =>
  (({}) as Record<string, unknown>).polluted ?? ([] as unknown as Record<string, unknown>).polluted;

describe.each(withBodies.map((endpoint) => [endpoint.id, endpoint] as const))('%s', (_id, endpoint) => {
  const { method } = endpoint;
  const bodies = bodiesOf(endpoint);
  const schema = standalone(endpoint.body);
  const faults = faultyPlaces(schema);
  const resultFaults = faultyPlaces(standalone(endpoint.result));

  test('survives any body and names the field at fault', async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(bodiesFor(endpoint), async (body) => {
        const text = JSON.stringify(body);
        const answer = await ask({ method, path: pathOf(endpoint), body: text });
        const error = expectValidAnswer(endpoint, answer);
        const input = JSON.parse(text);
        const places = faults(input);
        if (depthOf(input) > 64) {
          expect(error?.code).toBe('invalid_json');
        } else if (places.length > 0) {
          expect([error?.code, places]).toEqual(['invalid_request', expect.arrayContaining([error?.param])]);
        } else if (error === undefined && !answer.type.startsWith('text/event-stream')) {
          expect(resultFaults(JSON.parse(answer.text))).toEqual([]);
        } else if (error?.code === 'invalid_request') {
          expect([error.param, isPlaceIn(error.param ?? '', input)]).toEqual([error.param, true]);
        }
        expect(polluted()).toBeUndefined();
        const outcome = error?.code ?? String(answer.status);
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }),
      { numRuns: bodies },
    );
    for (const outcome of isOnce(endpoint) ? ['invalid_request'] : ['200', 'invalid_request']) {
      expect(seen.get(outcome) ?? 0).toBeGreaterThanOrEqual(Math.floor(bodies / 100));
    }
  });

  if (!isOnce(endpoint)) {
    test('accepts the valid bodies that these tests mutate', async () => {
      for (const body of goodBodiesOf(endpoint)) {
        const answer = await ask({ method, path: pathOf(endpoint), body: JSON.stringify(body) });
        expect([answer.status, answer.text]).toEqual([200, answer.text]);
      }
    });
  }

  test('survives any text', async () => {
    const text = JSON.stringify(goodBodiesOf(endpoint)[0]);
    await fc.assert(
      fc.asyncProperty(brokenText, async (change) => {
        const error = expectValidAnswer(
          endpoint,
          await ask({ method, path: pathOf(endpoint), body: change(text) }),
        );
        const others = isOnce(endpoint) ? ['conflict', 'not_found', 'rate_limited'] : [];
        if (error !== undefined) expect(['invalid_json', 'invalid_request', ...others]).toContain(error.code);
      }),
      { numRuns: runs.texts },
    );
  });
});

const withQueries = endpoints.filter(
  ({ id, query, stream }) =>
    // A required parameter is missing in nearly every generated query, a purchase is waited for, and cleared content is gone.
    query !== undefined &&
    !('required' in query) &&
    stream?.always !== true &&
    !['getCreditPurchase', 'clearTraceContent'].includes(id),
);

test.each(withQueries.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s survives any query and names the parameter at fault',
  async (_id, endpoint) => {
    const names = Object.keys((endpoint.query as { properties?: object }).properties ?? {});
    const text = fc.oneof(
      fc.constantFrom(...hostileTexts.filter((it) => it.length < 1000)),
      fc.constantFrom('0', '1', '100', '101', '-1', '1e3', '0x10', '2026-11-21', '9999-99-99', '0000-01-01'),
      fc.constantFrom('2026-11-21T00:00:00Z', '+010000-01-01', 'day', 'key', 'Day', '%', '%zz'),
      fc.string({ unit: anyCharacter, maxLength: 70 }),
    );
    const pairs = fc.array(fc.tuple(fc.constantFrom(...names, ...hostileNames), text), { maxLength: 4 });
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(pairs, async (given) => {
        const query = given.map((pair) => pair.map((it) => encodeURIComponent(it.toWellFormed())).join('='));
        const { method } = endpoint;
        const answer = await ask({ method, path: `${pathOf(endpoint)}?${query.join('&')}` });
        const error = expectValidAnswer(endpoint, answer);
        if (error !== undefined && error.code !== 'not_found')
          expect(given.map(([name]) => parameterName('', {}, name.toWellFormed()))).toContain(error.param);
        seen.add(answer.status);
      }),
      { numRuns: runs.queries },
    );
    expect(seen).toContain(200);
    // A generated query may be valid, but then it names something unknown.
    const refusal = endpoint.surface === 'site' ? 422 : 400;
    expect([...seen].some((status) => status === refusal || status === 404)).toBe(true);
  },
);
