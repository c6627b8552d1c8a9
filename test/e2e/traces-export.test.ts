import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;

const callsMade = 70;
let requests: string[];

beforeAll(async () => {
  daemon = await startDaemon();
  requests = [];
  for (let at = 0; at < callsMade; at += 1) {
    const model = at % 10 === 9 ? 'sim/nosuch' : 'sim/echo';
    requests.push(
      await call({ model, messages: [{ role: 'user', content: `=SUM(${at})\n"quoted", text` }] }),
    );
  }
  requests.reverse();
});

afterAll(() => daemon.stop());

/** Makes a call and returns the id of its request. */
async function call(json: object, headers: Record<string, string> = {}): Promise<string> {
  const reply = await daemon.fetch('/v1/chat/completions', { json, headers });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

const open = (query: string, secret = daemon.login) =>
  fetch(`${daemon.url}/v1/traces/export?${query}`, { headers: { authorization: `Bearer ${secret}` } });
const read = async (query: string) => (await open(query)).text();
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the tests are about.
const rowsOf = (text: string): any[] => linesOf(text).map((line) => JSON.parse(line));

describe('JSON lines', () => {
  test('have all requests, the newest first, as the list has them', async () => {
    const answer = await open('format=jsonl');
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    const rows = rowsOf(await answer.text());
    expect(rows.map((row) => row.request_id)).toEqual(requests);
    const reply = await daemon.fetch(`/v1/traces/${requests[3]}`, {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    const { timings, ...trace } = (await reply.json()) as { timings: object };
    expect(rows[3]).toMatchObject(trace);
    expect(Object.keys(rows[3].timings)).toEqual(Object.keys(timings));
    expect(rows.every((row) => !('content' in row))).toBe(true);
  });

  test('have the filters of the list', async () => {
    const rows = rowsOf(await read('status=rejected'));
    expect(rows).toHaveLength(callsMade / 10);
    expect(rows.every((row) => row.error_code === 'model_not_found')).toBe(true);
    expect(rowsOf(await read('conversation=none'))).toEqual([]);
  });

  test('have what was asked and answered, if that is wanted', async () => {
    const [row] = rowsOf(await read('content=text&status=completed'));
    const { content } = row.content.request.messages[0];
    expect(content).toContain('"quoted", text');
    expect(row.content.answer.choices[0].message.content).toBe(content);
    expect(row.content).not.toHaveProperty('attempts');
    const [wire] = rowsOf(await read('content=wire&status=completed'));
    expect(wire.content.headers).toContainEqual({ name: 'authorization', value: '[removed]' });
    expect(JSON.stringify(wire)).not.toContain(daemon.key);
  });

  test('have no content of requests for which none is kept', async () => {
    const request = await call(
      { model: 'sim/echo', messages: [{ role: 'user', content: 'Secret' }] },
      { 'x-service-capture': 'off', 'x-service-tags': 'kept=no' },
    );
    expect(rowsOf(await read('content=wire&tag=kept%3Dno'))).toMatchObject([
      { request_id: request, content: null },
    ]);
    requests.unshift(request);
  });
});

test('an export that is cut goes on after any request, without gaps or repeats', async () => {
  for (const taken of [1, 17, 49, 50, 51]) {
    const leaving = new AbortController();
    const answer = await fetch(`${daemon.url}/v1/traces/export`, {
      headers: { authorization: `Bearer ${daemon.login}` },
      signal: leaving.signal,
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of answer.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (linesOf(text).length > taken) break;
    }
    leaving.abort();
    // Calls that end meanwhile are newer than all of the export.
    requests.unshift(await call({ model: 'sim/echo', messages: [{ role: 'user', content: 'Later' }] }));
    const first = linesOf(text)
      .slice(0, taken)
      .map((line) => JSON.parse(line).request_id);
    const rest = rowsOf(await read(`after=${first.at(-1)}`)).map((row) => row.request_id);
    expect([...first, ...rest]).toEqual(requests.slice(1));
  }
});

test('an unknown request to go on after is not the end of the export', async () => {
  const answer = await open('after=req_00000000000000000000000000');
  expect(answer.status).toBe(404);
  await answer.text();
});

describe('CSV', () => {
  test('has a row per request, and quotes what a spreadsheet would run', async () => {
    const text = await read('format=csv&content=text&status=completed&limit');
    expect(text).not.toContain('object');
    const answer = await read('format=csv&content=text&status=completed');
    const [head = '', ...rows] = answer.split(/\r\n(?=req_|$)/);
    const columns = head.split(',');
    expect(columns.slice(0, 3)).toEqual(['request_id', 'created_at', 'completed_at']);
    expect(columns.slice(-2)).toEqual(['request', 'answer']);
    expect(rows.filter((row) => row !== '').length).toBeGreaterThan(callsMade / 2);
    await call({
      model: 'sim/echo',
      messages: [{ role: 'user', content: 'x' }],
      service: { tags: { evil: 'x' } },
      user: '=HYPERLINK("http://evil")',
    });
    requests.unshift('');
    const hostile = await read('format=csv');
    expect(hostile).toContain(`,"'=HYPERLINK(""http://evil"")",`);
  });

  test('has no content of the wire', async () => {
    const answer = await open('format=csv&content=wire');
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('content')]);
  });
});

const Pairs = Type.Array(Type.Object({ name: Type.String(), value: Type.String() }));
const own = (properties: Record<string, TSchema>) =>
  Type.Object(properties, { additionalProperties: false, patternProperties: { '^_': Type.Unknown() } });

/** Source: HTTP Archive 1.2, http://www.softwareishard.com/blog/har-12-spec/. Own members begin with `_`. */
const Har = own({
  log: own({
    version: Type.Literal('1.2'),
    creator: own({ name: Type.String(), version: Type.String() }),
    entries: Type.Array(
      own({
        startedDateTime: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
        time: Type.Number({ minimum: 0 }),
        request: own({
          method: Type.String(),
          url: Type.String({ pattern: '^[a-z+]+:' }),
          httpVersion: Type.String(),
          cookies: Type.Array(Type.Unknown()),
          headers: Pairs,
          queryString: Pairs,
          postData: Type.Optional(own({ mimeType: Type.String(), text: Type.String() })),
          headersSize: Type.Integer({ minimum: -1 }),
          bodySize: Type.Integer({ minimum: -1 }),
        }),
        response: own({
          status: Type.Integer({ minimum: 0 }),
          statusText: Type.String(),
          httpVersion: Type.String(),
          cookies: Type.Array(Type.Unknown()),
          headers: Pairs,
          content: own({
            size: Type.Integer({ minimum: 0 }),
            mimeType: Type.String(),
            text: Type.Optional(Type.String()),
          }),
          redirectURL: Type.String(),
          headersSize: Type.Integer({ minimum: -1 }),
          bodySize: Type.Integer({ minimum: -1 }),
        }),
        cache: own({}),
        timings: own({
          send: Type.Number({ minimum: 0 }),
          wait: Type.Number({ minimum: 0 }),
          receive: Type.Number({ minimum: 0 }),
        }),
      }),
    ),
  }),
});

test.each(['none', 'text', 'wire'])('HAR with content %s is a valid document', async (content) => {
  const har = JSON.parse(await read(`format=har&content=${content}`));
  expect([...Compile(Har).Errors(har)]).toEqual([]);
  const calls = har.log.entries.filter((entry: object) => '_trace' in entry);
  expect(calls).toHaveLength(requests.length);
  for (const { time, timings } of har.log.entries)
    expect(time).toBeCloseTo(timings.send + timings.wait + timings.receive);
  expect(har.log.entries.some((entry: { request: object }) => 'postData' in entry.request)).toBe(
    content !== 'none',
  );
  const errors = calls.filter(({ response }: { response: { status: number } }) => response.status >= 400);
  expect(errors.length).toBeGreaterThan(0);
  for (const { response } of errors)
    expect(JSON.parse(response.content.text ?? '{}')).toEqual(
      content === 'none' ? {} : { error: expect.anything() },
    );
});

test('HAR without requests is a valid document', async () => {
  expect(JSON.parse(await read('format=har&conversation=none')).log.entries).toEqual([]);
});

describe('OTLP', () => {
  interface Span {
    traceId: string;
    spanId: string;
    parentSpanId?: string;
    name: string;
    kind: number;
    startTimeUnixNano: string;
    endTimeUnixNano: string;
    status: { code?: number };
    attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  }
  const spansIn = (text: string): Span[][] =>
    rowsOf(text).map((row) => {
      const [{ resource, scopeSpans }] = row.resourceSpans;
      expect(resource.attributes[0]).toEqual({ key: 'service.name', value: { stringValue: 'gateway' } });
      return scopeSpans[0].spans;
    });
  const attribute = (span: Span, key: string) =>
    span.attributes.find((one) => one.key === key)?.value.stringValue;

  test('has a span for the request, and one for each attempt within it', async () => {
    const [spans = []] = spansIn(await read('format=otlp&status=completed'));
    const [request, attempt] = spans as [Span, Span];
    expect(spans).toHaveLength(2);
    expect([request.name, request.kind, attempt.kind]).toEqual(['POST /v1/chat/completions', 2, 3]);
    expect(request.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(attempt).toMatchObject({
      traceId: request.traceId,
      parentSpanId: request.spanId,
      name: 'chat sim/echo',
    });
    expect(attempt.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(BigInt(attempt.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(attempt.startTimeUnixNano));
    expect(attribute(attempt, 'gen_ai.operation.name')).toBe('chat');
    expect(attribute(attempt, 'gen_ai.input.messages')).toBeUndefined();
  });

  test('has messages as attributes, if content is wanted', async () => {
    const [spans = []] = spansIn(await read('format=otlp&content=text&status=completed&client=node'));
    const attempt = spans[1] as Span;
    const input = JSON.parse(attribute(attempt, 'gen_ai.input.messages') ?? '');
    expect(input).toEqual([{ role: 'user', parts: [{ type: 'text', content: expect.any(String) }] }]);
    const output = JSON.parse(attribute(attempt, 'gen_ai.output.messages') ?? '');
    expect(output[0]).toMatchObject({ role: 'assistant', parts: [{ type: 'text' }] });
  });

  test('has rejected calls, and the same ids each time', async () => {
    const [first, second] = [
      await read('format=otlp&status=rejected'),
      await read('format=otlp&status=rejected'),
    ];
    expect(first).toBe(second);
    const [spans = []] = spansIn(first);
    expect(attribute(spans[0] as Span, 'error.type')).toBe('model_not_found');
  });
});

test('content needs its scope', async () => {
  const headers = { authorization: `Bearer ${daemon.login}` };
  const json = { name: 'reader', scopes: ['traces:read'] };
  const issued = await daemon.fetch('/v1/workspaces/me/keys', { json, headers });
  const { secret } = (await issued.json()) as { secret: string };
  const traces = await open('', secret);
  expect([traces.status, rowsOf(await traces.text()).length]).toEqual([200, requests.length]);
  const content = await open('content=text', secret);
  expect([content.status, await content.text()]).toEqual([403, expect.stringContaining('content:read')]);
});

test('at most four exports run at a time, and one that is left makes room', async () => {
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${daemon.login}` };
  const url = `${daemon.url}/v1/traces/export`;
  const running = Array.from({ length: 8 }, () => fetch(url, { headers, signal: leaving.signal }));
  const answers = await Promise.all(running);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
  leaving.abort();
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await open('');
    await answer.text();
    if (answer.status === 200) return;
  }
  throw new Error('no room was made');
});
