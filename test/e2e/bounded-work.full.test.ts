import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { standalone } from '../../src/shared/contract/schema.ts';
import type { ChildDaemon } from '../support/child-daemon.ts';
import { startCountedDaemon } from '../support/counted-daemon.ts';
import { ownKeysConfig } from '../support/daemon-with-stranger.ts';
import { endpoints } from '../support/endpoints.ts';
import { type ExampleCall, exampleOf, placeholderIds, requestOf } from '../support/example-calls.ts';
import { validBody } from '../support/valid-bodies.ts';

/**
 * How many more steps than three times those of its example a request may take, whatever numbers and times it contains: a thousand
 * entries of an answer take about sixty each, and a page of the usual size some thousands.
 */
const stepsMax = 250_000;
/** What waits for an event is not waited for. */
const patienceMs = 400;
/** `FUZZ_RUNS` multiplies them. */
const factor = Number(process.env.FUZZ_RUNS ?? 1);

const numbers = [-1, 0, 1, 1_001, 86_401, 2 ** 31, Number.MAX_SAFE_INTEGER, 1e21];
const times = [
  ...[
    '-271821-04-20T00:00:00Z',
    '0001-01-01',
    '1969-01-01',
    '1969-12-31T23:59:59Z',
    '1970-01-01',
    '2020-01-01',
  ],
  ...['2025-03-30T00:30:00+01:00', '2026-11-29', '2099-12-31', '9999-12-31', '+275760-09-13T00:00:00Z'],
];
const durations = ['9999999999w', '52w', '1e9h'];
const texts = [...numbers.map(String), ...times, ...durations];
const terms: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `since:${text}`,
  (text) => `until:${text} since:1969-01-01`,
  (text) => `>${text}s`,
  (text) => `>$${text}`,
];
const zones = ['UTC', 'America/New_York', 'Pacific/Apia', 'Asia/Kathmandu', 'Africa/Monrovia'];

/** They end the daemon or its user, or copy the whole database. */
const left = ['stopDaemon', 'deleteProfile', 'createBackup'];
const tried = endpoints.filter(
  ({ id, access, socket, query, body }) =>
    (query !== undefined || body !== undefined) &&
    access.login !== undefined &&
    socket === undefined &&
    !left.includes(id),
);

let daemon: ChildDaemon;
let ids = placeholderIds;

beforeAll(async () => {
  daemon = await startCountedDaemon({ config: ownKeysConfig });
  const headers = { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object) => {
    const reply = await fetch(daemon.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const json = (await reply.json()) as { id: string; key: { id: string }; data: { id: string } };
    return { request: String(reply.headers.get('x-request-id')), reply: json };
  };
  const { reply: response, request } = await post('/v1/responses', { model: 'sim/echo', input: 'Hello.' });
  const { reply: thread } = await post('/v1/threads', {});
  const { reply: issued } = await post('/v1/workspaces/me/keys', { scopes: ['models:read'] });
  const { reply: autopilot } = await post('/api/autopilots', { displayName: 'Night Watch' });
  await post('/api/agents/me/wallet', {});
  ids = {
    ...placeholderIds,
    request,
    response: response.id,
    thread: thread.id,
    key: issued.key.id,
    autopilot: autopilot.data.id,
  };
});

afterAll(() => daemon.remove());

type Sent = ReturnType<typeof requestOf>;

/** When the request before ended: what the daemon does by itself counts for the next one, and `send` is repeated if it is much. */
let stepsBefore = 0;

/** Sends a request; returns its status, 0 if it waits, and how many steps it took. */
async function send({ path, ...init }: Sent): Promise<{ status: number; steps: number }> {
  const before = stepsBefore;
  const headers = { authorization: `Bearer ${daemon.login}`, ...init.headers };
  const signal = AbortSignal.timeout(patienceMs);
  let status = 0;
  try {
    const reply = await fetch(daemon.url + path, { ...init, headers, signal });
    status = reply.status;
    await reply.arrayBuffer();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  stepsBefore = await daemon.steps();
  return { status, steps: stepsBefore - before };
}

/** Fails if a request takes too many steps, or the daemon fails. */
async function expectBounded(sent: Sent, example: Sent): Promise<void> {
  const { status, steps } = await send(sent);
  if (status !== 503) expect(status).toBeLessThan(500);
  if (steps <= stepsMax) return;
  // The first request of a kind loads what it needs.
  const { steps: usual } = await send(example);
  const { steps: again } = await send(sent);
  expect(again).toBeLessThanOrEqual(stepsMax + 3 * usual);
}

type Schemas = Record<string, { enum?: unknown[]; type?: string; anyOf?: { const?: unknown }[] }>;

/** What a parameter is tried with. All endpoints read queries alike: each has every text in one kind of term, the next in another. */
function valuesOf(name: string, schema: Schemas[string], turn: number): string[] {
  const choices = schema.enum ?? schema.anyOf?.flatMap(({ const: value }) => value ?? []) ?? [];
  if (choices.length > 0) return choices.map(String);
  if (name === 'q' || name === 'query')
    return texts.map((text, at) => terms[(at + turn) % terms.length]?.(text) ?? text);
  // All that is no number is refused alike.
  if (schema.type === 'integer') return [...numbers.map(String), '2020-01-01', '52w'];
  return name === 'zone' || name === 'timezone' || name === 'tz' ? zones : texts;
}

const turns = tried.map((endpoint, turn) => [endpoint.id, endpoint, turn] as const);

describe.each(turns)('%s', (_id, endpoint, turn) => {
  const { query, body } = endpoint;
  const example = () => exampleOf(endpoint, ids);
  const check = (change: ExampleCall) =>
    expectBounded(requestOf(endpoint, { ...example(), ...change }), requestOf(endpoint, example()));
  const schemas = ((query as { properties?: Schemas } | undefined)?.properties ?? {}) as Schemas;
  const names = Object.keys(schemas);

  if (names.length > 0) {
    test('takes few steps for any parameters', async () => {
      for (const name of names) {
        for (const value of valuesOf(name, schemas[name] ?? {}, turn))
          await check({ query: { ...example().query, [name]: value } });
      }
      const several = names.map((name) =>
        fc.option(fc.constantFrom(...valuesOf(name, schemas[name] ?? {}, turn)), { nil: undefined }),
      );
      await fc.assert(
        fc.asyncProperty(fc.tuple(...several), async (values) => {
          const given = names.flatMap((name, at) => (values[at] === undefined ? [] : [[name, values[at]]]));
          await check({ query: Object.fromEntries(given) });
        }),
        { numRuns: 8 * factor },
      );
    });
  }

  if (body !== undefined) {
    test('takes few steps for any numbers and times in its body', async () => {
      const value = fc.constantFrom(...numbers, ...times, ...durations);
      const given = fc.tuple(validBody(standalone(body), {}), fc.nat(), value, fc.boolean());
      await fc.assert(
        fc.asyncProperty(given, async ([any, at, extreme, isExample]) => {
          const { body: sample } = example();
          const base =
            isExample && sample !== undefined ? sample : { ...(any as object), ...(sample as object) };
          await check({ body: replaced(base, at, extreme) });
        }),
        { numRuns: 8 * factor },
      );
    });
  }
});

/** The body with one of its numbers, or of its short texts, replaced. */
function replaced(body: unknown, at: number, value: number | string): unknown {
  const copy: unknown = structuredClone(body);
  const places: [holder: Record<string, unknown>, name: string][] = [];
  const visit = (holder: unknown) => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const [name, member] of Object.entries(holder)) {
      if (typeof member === typeof value) places.push([holder as Record<string, unknown>, name]);
      visit(member);
    }
  };
  visit(copy);
  const [holder, name] = places[at % Math.max(1, places.length)] ?? [];
  if (holder !== undefined && name !== undefined) holder[name] = value;
  return copy;
}
