import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IncomingBody, OutgoingRequest } from '../../../../src/daemon/base/world.ts';
import { firstDifference, matchKey } from '../../../../src/daemon/upstream/recordings/matching.ts';
import { createRecorder } from '../../../../src/daemon/upstream/recordings/recorder.ts';
import { chunksOf, parseRecording } from '../../../../src/daemon/upstream/recordings/recording.ts';
import { createReplayer } from '../../../../src/daemon/upstream/recordings/replayer.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-recordings-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const bodyOf = (chunks: Uint8Array[]): IncomingBody => ({
  async *[Symbol.asyncIterator]() {
    yield* chunks;
  },
  bytes: async () => Buffer.concat(chunks),
  cancel() {},
});

const asked = (more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'POST',
  url: 'https://provider.example/v1/chat',
  headers: { authorization: 'Bearer hush-hush-hush', accept: 'text/event-stream' },
  body: '{"model":"m"}',
  ...more,
});

/** Sends one request through a recorder and reads the answer; returns the text of the file. */
async function record(request: OutgoingRequest, chunks: Uint8Array[]): Promise<string> {
  const place = await mkdtemp(join(folder, 'one-'));
  let clock = 0;
  const recorder = await createRecorder({
    folder: place,
    send: async () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'set-cookie': 'session=hush' },
      body: bodyOf(chunks),
    }),
    now: () => 1_800_000_000_000,
    elapsed: () => (clock += 10),
    onFailure: (error) => {
      throw error;
    },
  });
  const answer = await recorder.send(request);
  for await (const _ of answer.body);
  await recorder.written();
  const [name = ''] = await readdir(place);
  return await readFile(join(place, name), 'utf8');
}

describe('a recording', () => {
  test('replays any text, however it was split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.array(fc.nat(200), { maxLength: 4 }),
        async (text, cuts) => {
          const bytes = Buffer.from(`\n ${text}\r\n\n`);
          const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
          const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
          const file = await record(asked({ body: JSON.stringify({ model: 'm', text }) }), chunks);
          const read = parseRecording(file, 'a.yaml');
          if ('faults' in read) throw new Error(JSON.stringify(read.faults));
          expect(
            chunksOf(read.recording)
              .map((chunk) => chunk.text)
              .join(''),
          ).toBe(bytes.toString('utf8'));
          expect(read.recording.request.body).toEqual({ model: 'm', text });
        },
      ),
      { numRuns: 40 },
    );
  });

  test('contains no secret of the request, even if the answer splits it in two', async () => {
    const request = asked({
      url: 'https://provider.example/v1/chat?key=query-secret-1&alt=sse',
      headers: { 'x-api-key': 'header-secret-1', cookie: 'a=cookie-secret-1', accept: '*/*' },
      body: JSON.stringify({ model: 'm', note: 'header-secret-1 and sk-other-0123456789abcdef' }),
    });
    const file = await record(request, [
      Buffer.from('you sent header-sec'),
      Buffer.from('ret-1, query-secret-1'),
    ]);
    expect(file).not.toMatch(/secret-1|ret-1|sk-other|hush/);
    expect(file).toContain('alt=sse');
  });
});

describe('matching', () => {
  const base = { method: 'POST', url: 'https://p.example/v1/chat?key=a' };
  test('ignores the order of members, the user, credentials and ids', () => {
    const one = { ...base, body: { model: 'm', user: 'ada', turns: [{ call_id: 'x1' }, { call_id: 'x1' }] } };
    const other = {
      method: 'POST',
      url: 'https://p.example/v1/chat?key=b',
      body: { turns: [{ call_id: 'y' }, { call_id: 'y' }], model: 'm' },
    };
    expect(matchKey(one)).toBe(matchKey(other));
    expect(firstDifference(one, other)).toBeUndefined();
  });

  test('reports differences', () => {
    const one = { ...base, body: { model: 'm', messages: [{ content: 'a' }, { content: 'b' }] } };
    const other = { ...base, body: { model: 'm', messages: [{ content: 'a' }, { content: 'c' }] } };
    expect(matchKey(one)).not.toBe(matchKey(other));
    expect(firstDifference(one, other)).toMatchObject({
      at: 'messages[1].content',
      recorded: 'b',
      actual: 'c',
    });
  });
});

test('a replay at real speed keeps the recorded delays', async () => {
  const slept: number[] = [];
  const world = { elapsed: () => 0, sleep: async (ms: number) => void slept.push(ms) };
  const { method, url } = asked();
  const recording = {
    recorded_at: '2026-11-21T08:00:00.000Z',
    provider: 'p',
    request: { method, url, headers: {}, body: { model: 'm' } },
    response: {
      status: 200,
      headers: {},
      ended: 'complete' as const,
      chunks: [
        { after_ms: 120, text: 'a' },
        { after_ms: 200, text: 'b' },
      ],
    },
  };
  const recordings = [{ file: 'a.yaml', recording }];
  const read = async (speed: 'real' | 'instant') => {
    const send = createReplayer({ recordings, speed, world, onMissing: () => {} });
    const { body } = await send(asked());
    return Buffer.from(await body.bytes(100)).toString();
  };
  expect(await read('instant')).toBe('ab');
  expect(slept).toEqual([]);
  expect(await read('real')).toBe('ab');
  expect(Math.max(...slept)).toBe(200);
});
