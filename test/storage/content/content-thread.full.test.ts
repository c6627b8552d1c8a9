import { afterEach, describe, expect, test } from 'vitest';
import type { AskedContent, CallContent } from '../../../src/daemon/features/capture/index.ts';
import { ContentThread } from '../../../src/daemon/storage/content/content-thread.ts';
import type { RedactionRules } from '../../../src/daemon/storage/content/redactor.ts';

const workspaceId = 'ws_1';
const megabyte = 1024 * 1024;
let thread: ContentThread;
const warnings: string[] = [];
let redaction: RedactionRules = { kinds: [], patterns: [] };

afterEach(async () => {
  await thread.close();
  warnings.length = 0;
  redaction = { kinds: [], patterns: [] };
});

function start({
  memoryBytes = 32 * megabyte,
  queuedBytesMax,
}: {
  memoryBytes?: number;
  queuedBytesMax?: number;
} = {}) {
  thread = new ContentThread({
    settings: () => ({ memoryBytes, redaction, disk: { days: 7, bytes: 1024 * megabyte } }),
    isOnDisk: () => false,
    now: Date.now,
    log: { warn: (_details, message) => warnings.push(message) },
    ...(queuedBytesMax !== undefined && { queuedBytesMax }),
  });
}

const asked = (
  requestId: string,
  body: AskedContent['body'],
  more: Partial<AskedContent> = {},
): AskedContent => ({
  requestId,
  workspaceId,
  keyId: 'key_1',
  endpoint: '/v1/chat/completions',
  user: null,
  conversation: null,
  at: 1_000,
  level: 'memory',
  headers: [],
  body,
  attempts: [],
  ...more,
});

const attempt = {
  provider: 'openai',
  url: 'https://example.com/v1',
  headers: {},
  status: 200,
  received: [],
};

/** A text that does not compress. */
const noise = (seed: number, length: number) => {
  let state = seed;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state.toString(36).padStart(6, '0');
  };
  return Array.from({ length: Math.ceil(length / 6) }, next).join('');
};

const bodyOf = async (requestId: string) => (await thread.find(workspaceId, requestId))?.body;

test('nothing is started for reads before the first call', async () => {
  start();
  expect(await thread.find(workspaceId, 'req_1')).toBeUndefined();
  expect(await thread.status(workspaceId)).toEqual({
    calls: 0,
    bytes: 0,
    diskBytes: 0,
    oldestAt: null,
    dropped: 0,
  });
});

test.each([
  ['text', (text: string) => text],
  ['bytes', (text: string) => Buffer.from(text)],
  ['bytes within others', (text: string) => Buffer.from(` ${text} `).subarray(1, -1)],
])('a long request as %s is kept as it is, and stays with who handed it over', async (_name, given) => {
  start();
  const text = `{"é":"${noise(1, 200_000)}"}`;
  const body = given(text);
  thread.asked(asked('req_1', body, { attempts: [{ ...attempt, body, refusal: undefined }] }));
  expect((await bodyOf('req_1'))?.text).toBe(text);
  expect((await thread.find(workspaceId, 'req_1'))?.attempts[0]?.body?.text).toBe(text);
  expect(body.toString()).toBe(text);
});

test('what comes faster than it can be stored is dropped, counted and reported once', async () => {
  start({ queuedBytesMax: 100_000 });
  for (let at = 0; at < 10; at++) thread.asked(asked(`req_${at}`, noise(at, 30_000)));
  expect(warnings).toHaveLength(1);
  const { calls, dropped } = await thread.status(workspaceId);
  expect([calls, dropped]).toEqual([4, 6]);
  // Once the queue is empty, calls are kept again.
  thread.asked(asked('req_later', 'later'));
  expect((await bodyOf('req_later'))?.text).toBe('later');
});

test('a large call is kept whole: its body, what the provider got, and its answer', async () => {
  start({ queuedBytesMax: 100_000 });
  const body = noise(1, 90_000);
  thread.asked(asked('req_1', body, { attempts: [{ ...attempt, body, refusal: undefined }] }));
  thread.answered({ requestId: 'req_1', answer: noise(2, 80_000), isStream: false, reads: [], isCut: false });
  // What comes while so much waits is dropped, with its answer.
  thread.asked(asked('req_2', noise(3, 90_000)));
  thread.answered({ requestId: 'req_2', answer: noise(4, 80_000), isStream: false, reads: [], isCut: false });
  const found = await thread.find(workspaceId, 'req_1');
  expect(found?.answer?.text).toBe(noise(2, 80_000));
  expect(found?.body?.text).toBe(body);
  expect(await thread.find(workspaceId, 'req_2')).toBeUndefined();
});

describe('with little memory', () => {
  test('the oldest calls make room, and what newer ones have in common with them stays', async () => {
    start({ memoryBytes: 200_000 });
    const shared = JSON.stringify({ role: 'system', content: noise(99, 3_000) });
    const bodies = Array.from(
      { length: 20 },
      (_, at) => `{"messages":[${shared},${JSON.stringify({ role: 'user', content: noise(at, 30_000) })}]}`,
    );
    for (const [at, body] of bodies.entries()) thread.asked(asked(`req_${at}`, body, { at: 1_000 + at }));
    const { calls, bytes, oldestAt } = await thread.status(workspaceId);
    expect(bytes).toBeLessThanOrEqual(200_000);
    expect(calls).toBeGreaterThan(2);
    expect(oldestAt).toBe(1_000 + 20 - calls);
    expect(await bodyOf('req_0')).toBeUndefined();
    for (const at of [19, 20 - calls])
      expect(await bodyOf(`req_${at}`)).toMatchObject({ text: bodies[at], isPartial: false });
  });

  test('nothing is left of it when all is cleared', async () => {
    start();
    for (let at = 0; at < 5; at++) thread.asked(asked(`req_${at}`, noise(at % 2, 5_000)));
    thread.answered({ requestId: 'req_1', answer: '{"a":1}', isStream: false, reads: [], isCut: false });
    expect(await thread.clear({ workspaceId, keyId: undefined, user: undefined, before: undefined })).toBe(5);
    expect(await thread.status(workspaceId)).toMatchObject({ calls: 0, bytes: 0 });
  });
});

test('the end of a call that was not kept, or was deleted meanwhile, changes nothing', async () => {
  start();
  thread.asked(asked('req_1', 'first'));
  expect(await thread.remove(workspaceId, 'req_1')).toBe(true);
  for (const requestId of ['req_1', 'req_2'])
    thread.answered({ requestId, answer: 'late', isStream: false, reads: [], isCut: false });
  expect(await thread.find(workspaceId, 'req_1')).toBeUndefined();
  expect(await thread.status(workspaceId)).toMatchObject({ calls: 0, bytes: 0 });
});

describe('pages of a request of many parts', () => {
  const messages = Array.from({ length: 12 }, (_, at) => ({ role: 'user', content: `😀${noise(at, 900)}é` }));
  const bodyWith = (count: number) => JSON.stringify({ messages: messages.slice(0, count) });

  test.each([1, 2, 511, 1_000, 100_000])('of %i characters give its text again', async (limit) => {
    start();
    thread.asked(asked('req_1', bodyWith(messages.length)));
    let text = '';
    for (let at: number | null = 0; at !== null; ) {
      const page = { part: 'request', at, limit } as const;
      const found: CallContent | undefined = await thread.find(workspaceId, 'req_1', page);
      text += found?.body?.text;
      // A half of a pair of surrogates is replaced where a page has no room for both.
      expect(found?.body?.text.length).toBeLessThanOrEqual(limit);
      at = found?.body?.next ?? null;
    }
    expect(text.replaceAll('\uFFFD\uFFFD', '😀')).toBe(bodyWith(messages.length));
  });

  test('say that a part is missing, wherever it was', async () => {
    start();
    thread.asked(asked('req_1', bodyWith(6)));
    thread.asked(asked('req_2', bodyWith(12)));
    await thread.remove(workspaceId, 'req_1');
    const pages: (string | undefined)[] = [];
    for (let at: number | null = 0; at !== null; ) {
      const page = { part: 'request', at, limit: 700 } as const;
      const found: CallContent | undefined = await thread.find(workspaceId, 'req_2', page);
      expect(found?.body?.isPartial).toBe(true);
      pages.push(found?.body?.text);
      at = found?.body?.next ?? null;
    }
    expect(pages.join('')).toContain(messages[11]?.content);
    expect(pages.join('')).not.toContain(messages[0]?.content);
  });

  test('leave out what is not asked for', async () => {
    start();
    thread.asked(asked('req_1', bodyWith(2)));
    thread.answered({ requestId: 'req_1', answer: '{"a":1}', isStream: false, reads: [], isCut: false });
    const answer = await thread.find(workspaceId, 'req_1', { part: 'answer', at: 0, limit: 100 });
    expect(answer).toMatchObject({ body: null, answer: { text: '{"a":1}', next: null } });
  });
});

test('a search continues after the last call of the one before', async () => {
  start();
  for (let at = 0; at < 7; at++) thread.asked(asked(`req_${at}`, `find me ${at}`));
  const found: string[] = [];
  let after: string | undefined;
  do {
    const search = {
      workspaceId,
      text: 'FIND',
      keyId: undefined,
      since: undefined,
      until: undefined,
      after,
      limit: 2,
    };
    const { matches, next } = await thread.search(search);
    found.push(...matches.map(({ requestId }) => requestId));
    after = next ?? undefined;
  } while (after !== undefined);
  expect(found).toEqual(['req_6', 'req_5', 'req_4', 'req_3', 'req_2', 'req_1', 'req_0']);
});

describe('before it is kept', () => {
  const removedFrom = async (text: string, rules: Partial<RedactionRules>) => {
    redaction = { kinds: [], patterns: [], ...rules };
    start();
    thread.asked(asked('req_1', text));
    thread.answered({ requestId: 'req_1', answer: text, isStream: false, reads: [], isCut: false });
    const { body, answer, redacted } = (await thread.find(workspaceId, 'req_1')) ?? {};
    expect(answer).toEqual(body);
    return [body?.text, redacted];
  };

  test.each([
    ['Write to anna.b+c@mail.example.org.', { kinds: ['email'] }, 'Write to [email removed].', ['email']],
    [
      '4111 1111-1111 1111, not 4111111111111112',
      { kinds: ['card'] },
      '[card removed], not 4111111111111112',
      ['card'],
    ],
    ['{"n":4111111111111111}', { kinds: ['card'] }, '{"n":"[card removed]"}', ['card']],
    [
      'Call +49 (30) 901820 or (212) 555-0100',
      { kinds: ['phone'] },
      'Call [phone removed] or [phone removed]',
      ['phone'],
    ],
    [
      'On 2026-11-23 at 10.0.0.1:4000 for 1234567890',
      { kinds: ['phone', 'card', 'email'] },
      'On 2026-11-23 at 10.0.0.1:4000 for 1234567890',
      [],
    ],
    ['EMP-123456 asks', { patterns: ['EMP-\\d{6}'] }, '[pattern removed] asks', ['pattern']],
    ['Key sk-0123456789abcdefghij', {}, 'Key [removed]', ['credential']],
    ['a@b.example stays', {}, 'a@b.example stays', []],
  ] as const)('%j with %j is %j', async (text, rules, clean, kinds) => {
    expect(await removedFrom(text, rules)).toEqual([clean, kinds]);
  });

  test('a text for which a pattern takes too long is left out, and calls go on', async () => {
    const endless = `${'a'.repeat(40)}!`;
    expect(await removedFrom(endless, { patterns: ['(a+)+$'] })).toEqual([
      '[unchecked removed]',
      ['unchecked'],
    ]);
    expect(warnings).toEqual([expect.stringContaining('capture.redact_patterns take too long')]);
    thread.asked(asked('req_2', 'short'));
    expect((await bodyOf('req_2'))?.text).toBe('short');
  });
});

test('what few calls contain waits without a thread, until it is asked for', async () => {
  start();
  const threads = async () =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker').length;
  const before = await threads();
  thread.asked(asked('req_1', 'first'));
  expect(await threads()).toBe(before);
  expect((await bodyOf('req_1'))?.text).toBe('first');
});
