import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/output/width.ts';
import { receivedError } from '../../../../src/shared/faults/received-error.ts';
import { hostileTexts } from '../../../support/hostile.ts';
import { type Answers, keys, openTui, type TestCall } from '../../../support/open-tui.ts';

const at = Date.parse('2026-11-21T09:00:00Z');

const traceOf = (id: string, more: Record<string, unknown> = {}) => ({
  request_id: id,
  response_id: null,
  created_at: new Date(at).toISOString(),
  completed_at: new Date(at + 3000).toISOString(),
  model: 'openai/gpt-5',
  provider: 'openai',
  key: null,
  status: 'completed',
  error_code: null,
  http_status: 200,
  rejection: null,
  replay_of: null,
  conversation: null,
  finish_reason: 'stop',
  timings: { admitted_ms: 1, held_ms: null, first_token_ms: 1900, total_ms: 3000, settled_ms: 3004 },
  endpoint: '/v1/chat/completions',
  attempts: [attempt('azure', 429, 'rate_limited', [1, 812]), attempt('openai', 200, null, [813, 1900])],
  dropped: [],
  routes: null,
  tokens: { input: 47_100, cached_input: 44_200, cache_write: 0, output: 1204, reasoning: 610 },
  tokens_reported: true,
  cost: { provider_usd: '0.02119', margin_usd: '0', total_usd: '0.02119' },
  prices: { input: '1.25', cached_input: '0.125', cache_write: '0', output: '10' },
  charged_usd: '0.02119',
  own_key: false,
  ...more,
});

function attempt(provider: string, status: number, code: string | null, [from, to]: [number, number]) {
  return {
    provider,
    model: 'gpt-5',
    status,
    error_code: code,
    message: code && 'Slow down.',
    started_ms: from,
    ended_ms: to,
  };
}

const finished = (id: string) => ({
  type: 'request.completed',
  sequence: 1,
  created_at: new Date(at + Number(id.slice(4))).toISOString(),
  data: { request_id: id, model: 'openai/gpt-5', status: 'completed', total_ms: 3000 },
});

const notFound = () => {
  const error = { code: 'not_found', message: 'The content of this request is not kept.' };
  throw receivedError(404, {}, JSON.stringify({ error }));
};

const request = {
  model: 'gpt-5',
  messages: [
    { role: 'system', content: 'You are careful.' },
    { role: 'user', content: 'Why was this slow?' },
  ],
};
const answer = { choices: [{ message: { role: 'assistant', content: 'The first provider was busy.' } }] };

/** The pages of a text, of so many characters. */
function pageOf(text: string, start: unknown, size = 100_000) {
  const from = Number(start ?? 0);
  const to = Math.min(text.length, from + size);
  const next = to < text.length ? to : null;
  return { bytes: text.length, text: text.slice(from, to), next, is_partial: false };
}

function contentOf({ query = {} }: TestCall, texts: { request?: string; answer?: string } = {}) {
  const kept = { request: JSON.stringify(request), answer: JSON.stringify(answer), ...texts };
  const is = (part: string) => query.part === part;
  return {
    object: 'trace.content',
    request_id: 'req_1',
    endpoint: '/v1/chat/completions',
    request: is('request')
      ? { headers: [{ name: 'user-agent', value: 'claude-cli/2.1' }], body: pageOf(kept.request, query.at) }
      : null,
    answer: is('answer') ? { streamed: false, is_cut: false, body: pageOf(kept.answer, query.at) } : null,
    attempts: is('attempts')
      ? [
          {
            provider: 'azure',
            url: 'https://azure.example/v1/chat/completions',
            headers: [{ name: 'content-type', value: 'application/json' }],
            body: pageOf('{"model":"deployed"}', 0),
            status: 429,
            response_headers: [{ name: 'retry-after', value: '12' }],
            response_body: pageOf('{"error":"Too many requests"}', 0),
          },
        ]
      : null,
    composition: is('composition') ? composition : null,
  };
}

const composition = {
  parts: [],
  parts_omitted: 0,
  by_kind: [
    { kind: 'tool', parts: 24, bytes: 40_000, tokens: 9800 },
    { kind: 'message', parts: 2, bytes: 200, tokens: 50 },
  ],
  bytes: 40_200,
  tokens: 9850,
  previous: {
    request_id: 'req_0',
    unchanged_parts: 7,
    unchanged_bytes: 400,
    unchanged_tokens: 100,
    changed_parameters: [],
    break: { path: 'tools[7].description', change: 'changed', before: '12:03', after: '12:04' },
  },
};

const traceOfCall = 'GET /v1/traces/{request_id}';
const contentPath = 'GET /v1/traces/{request_id}/content';

const usual: Answers = {
  [traceOfCall]: ({ params }) => traceOf(String(params?.request_id)),
  [contentPath]: (call) => contentOf(call),
};

function openCall(answers: Answers = {}, options: Parameters<typeof openTui>[0] = {}) {
  const tui = openTui({ answers: { ...usual, ...answers }, columns: 100, rows: 44, ...options });
  for (const id of ['req_1', 'req_2']) tui.calls.apply(finished(id));
  tui.state.changed();
  tui.type(keys.enter);
  return tui;
}

describe('the page of a call', () => {
  test('opens with its timeline and what fills its context', async () => {
    const tui = openCall();
    await tui.shows(/\[Timeline\].*Request.*Answer.*Attempts.*Cost.*Headers.*Raw/);
    await tui.shows(/azure +░*█+░* +811 ms {2}rate_limited/);
    await tui.shows(/answer +░+█+░* +1\.\d\d s/);
    await tui.shows(/tools 24 +9,800 +█+/);
    await tui.shows(/Unchanged since .*: ≈ 100 of 9,850 tokens/);
    await tui.shows(/cache broke at tools\[7\]\.description.*\n.*before +12:03.*\n.*after +12:04/);
  });

  test('has what was sent and answered, as a conversation and raw', async () => {
    const tui = openCall();
    await tui.shows('[Timeline]');
    tui.type(']');
    await tui.shows(/system *\n.*You are careful\..*\n[^\n]*\n.*user *\n.*Why was this slow\?/);
    tui.type(keys.tab);
    await tui.shows('"role": "user",');
    tui.type(']');
    await tui.shows(/assistant *\n.*The first provider was busy\./);
    tui.type('[');
    await tui.shows('Why was this slow?');
    tui.type('y');
    await tui.shows('Copied');
    expect(tui.copied).toEqual([JSON.stringify(request)]);
  });

  test('shows what each provider got and answered, and headers without credentials', async () => {
    const tui = openCall();
    await tui.shows('[Timeline]');
    tui.type(']]]');
    await tui.shows(/1 {2}azure · gpt-5 · rate_limited/);
    await tui.shows('https://azure.example/v1/chat/completions');
    await tui.shows('"error": "Too many requests"');
    await tui.shows(/2 {2}openai · gpt-5 · 200/);
    tui.type(']]');
    await tui.shows('user-agent: claude-cli/2.1');
    await tui.shows('retry-after: 12');
  });

  test('splits the cost by kind of token, at the prices of the time', async () => {
    const tui = openCall();
    await tui.shows('[Timeline]');
    tui.type(']]]]');
    await tui.shows(/input +2,900 +\$1\.25 +\$0\.003625/);
    await tui.shows(/cached input +44,200 +\$0\.125 +\$0\.005525/);
    await tui.shows(/output +1,204 +\$10 +\$0\.01204/);
    await tui.shows('Cached input saved $0.049725.');
    await tui.shows('610 tokens of the output are reasoning.');
  });

  test('keeps the tab while J and K walk the list', async () => {
    const tui = openCall();
    await tui.shows(/› req_2/);
    tui.type(']]]]');
    await tui.shows('[Cost]');
    tui.type('J');
    await tui.shows(/› req_1/);
    await tui.shows('[Cost]');
    tui.type('J');
    await tui.shows('This is the last row.');
    tui.type('K');
    await tui.shows(/› req_2/);
  });

  test('is copied as curl, with the key in a command', async () => {
    const tui = openCall();
    await tui.shows('[Timeline]');
    tui.type('C');
    await tui.shows('Copied');
    expect(tui.copied[0]).toContain("curl 'http://127.0.0.1:4100/v1/chat/completions'");
    expect(tui.copied[0]).toContain('Bearer $(gateway keys default)');
    expect(tui.copied[0]).toContain(`-d '${JSON.stringify(request)}'`);
  });

  test('says why nothing is kept, and falls back to a stored response', async () => {
    const tui = openCall({ [contentPath]: notFound });
    await tui.shows('[Timeline]');
    tui.type(']');
    await tui.shows('The content of this request is not kept.');
    const stored = openCall({
      [traceOfCall]: () => traceOf('req_1', { response_id: 'resp_1' }),
      [contentPath]: notFound,
      'GET /v1/responses/{id}': () => ({
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It was.' }] }],
      }),
      'GET /v1/responses/{id}/input_items': () => ({
        data: [{ role: 'user', content: 'Was\u001b[31m it?' }],
        has_more: false,
      }),
    });
    await stored.shows('[Timeline]');
    stored.type(']');
    await stored.shows(/user *\n.*Was it\?/);
    stored.type(']');
    await stored.shows(/assistant *\n.*It was\./);
  });

  test('shows a long body page by page', async () => {
    const line = `${'x'.repeat(90)}\n`;
    const body = line.repeat(60_000);
    const asked: unknown[] = [];
    const tui = openCall({
      [contentPath]: (call) => {
        if (call.query?.part === 'request') asked.push(call.query.at ?? 0);
        return contentOf(call, { request: body });
      },
    });
    await tui.shows('[Timeline]');
    tui.type(']');
    await tui.shows('This is long (5.2 MiB), and shown as it is.');
    expect(asked).toEqual([0]);
    tui.type('>');
    await expect
      .poll(() => {
        tui.type('>');
        return asked;
      })
      .toEqual(expect.arrayContaining([0, 100_000, 200_000]));
    expect(new Set(asked).size).toBe(asked.length);
  });

  test.each([
    [40, 24],
    [80, 24],
    [200, 60],
  ])('at %i × %i, hostile texts neither leave their pane nor command the terminal', async (columns, rows) => {
    const evil = hostileTexts.map((text) => `${text}\u001b]52;c;eA==\u0007\u009b31m`);
    const bad = {
      model: evil.join(''),
      messages: evil.map((content) => ({ role: content.slice(0, 50), content })),
    };
    const tui = openCall(
      {
        [traceOfCall]: ({ params }) =>
          traceOf(String(params?.request_id), {
            model: evil[3],
            provider: evil[4],
            user: evil[5],
            tags: { [evil[6] ?? '']: evil[7] },
            attempts: evil
              .slice(0, 9)
              .map((text) => ({ ...attempt(text, 500, text, [1, 2]), message: text })),
          }),
        [contentPath]: (call) => {
          const content = contentOf(call, { request: JSON.stringify(bad), answer: evil.join('\n') });
          const headers = evil.map((value) => ({ name: value.slice(0, 20), value }));
          if (content.request) content.request.headers = headers;
          for (const one of content.attempts ?? []) {
            one.url = evil.join('');
            one.response_headers = headers;
            one.response_body = pageOf(evil.join('\n'), 0);
          }
          return content;
        },
      },
      { columns, rows },
    );
    await tui.shows('Timeline]');
    for (let tab = 0; tab < 7; tab += 1) {
      for (const key of [keys.pageDown, '>', keys.tab, keys.pageDown]) {
        tui.type(key);
        tui.state.changed();
        expect(tui.lines()).toHaveLength(rows);
        for (const line of tui.lines()) expect(widthOf(line)).toBeLessThanOrEqual(columns);
        for (const control of ['\u001b', '\u0007', '\u009b', '\u202e'])
          expect(tui.frame()).not.toContain(control);
      }
      tui.type(']');
    }
  });
});

describe('D', () => {
  test('compares two marked calls', async () => {
    const later = { ...request, temperature: 0 };
    const tui = openTui({
      rows: 44,
      columns: 100,
      answers: {
        [traceOfCall]: ({ params }) =>
          traceOf(String(params?.request_id), {
            created_at: new Date(at + Number(String(params?.request_id).slice(4))).toISOString(),
          }),
        [contentPath]: (call) =>
          contentOf(call, {
            request: JSON.stringify(call.params?.request_id === 'req_2' ? later : request),
          }),
      },
    });
    for (const id of ['req_1', 'req_2']) tui.calls.apply(finished(id));
    tui.state.changed();
    tui.type('  D');
    await tui.shows('› req_1 → req_2');
    await tui.shows(/temperature +– +0/);
  });

  test('says what is missing where there is nothing to compare with', async () => {
    const tui = openTui({
      answers: { ...usual, 'GET /v1/traces': () => ({ data: [], has_more: false, next: null }) },
    });
    tui.calls.apply(finished('req_1'));
    tui.state.changed();
    tui.type('D');
    await tui.shows('No earlier call');
  });
});
