import { expect, test } from 'vitest';
import type { TraceView } from '../../../src/shared/contract/traces.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const trace: TraceView = {
  request_id: 'req_1',
  response_id: 'resp_1',
  created_at: '2026-11-21T08:00:00.000Z',
  completed_at: '2026-11-21T08:00:02.000Z',
  endpoint: '/v1/responses',
  model: 'acme/large',
  provider: 'acme',
  key: 'key_1',
  streamed: true,
  status: 'completed',
  error_code: null,
  client: 'claude-cli/2.1.4',
  user: 'ann',
  conversation: null,
  tags: { team: 'search', job: '7' },
  replay_of: null,
  http_status: 200,
  rejection: null,
  captured: { state: 'memory', parts: ['request', 'attempts', 'answer', 'timing'] },
  finish_reason: 'stop',
  provider_finish_reason: null,
  served_model: null,
  queue_ms: null,
  waits: [],
  timings: { admitted_ms: 2, held_ms: 4, first_token_ms: 1000, total_ms: 1990, settled_ms: 2000 },
  attempts: [
    {
      provider: 'slow\u001b[31m',
      model: 'acme/large',
      status: 503,
      error_code: 'server_error',
      message: 'The cluster is on fire.',
      started_ms: 2,
      ended_ms: 500,
    },
    {
      provider: 'acme',
      model: 'acme/large',
      status: 200,
      error_code: null,
      message: null,
      started_ms: 500,
      ended_ms: 1000,
    },
  ],
  routes: [
    { provider: 'slow', model: 'acme/large' },
    { provider: 'acme', model: 'acme/large' },
  ],
  tokens: { input: 1200, cached_input: 0, cache_write: 0, output: 80, reasoning: 0 },
  tokens_reported: true,
  cost: { provider_usd: '0.001', margin_usd: '0', total_usd: '0.001' },
  prices: null,
  cache: null,
  charged_usd: '0.001',
  own_key: false,
  dropped: [{ param: 'tools[3]', type: 'web_search' }, { param: 'text.verbosity' }],
};
const now = () => Date.parse('2026-11-21T08:05:00Z');

const one = () => fakeDaemon({ 'GET /v1/traces/req_1': () => trace });

test('a trace is a timeline on a terminal, without control characters', async () => {
  const { env } = await one();
  const { code, stdout } = await runCli(['traces', 'req_1'], { env, tty: true, columns: 100, now });
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  const bars = lines.filter((line) => line.includes('█'));
  expect(bars.map((line) => line.replace(/[█░]+/, '|').replace(/\s+/g, ' ').trim())).toEqual([
    'plan | 2 ms',
    'reserve cost | 2 ms',
    expect.stringMatching(/^slow.+ \| 498 ms server_error$/),
    'acme | 500 ms 200',
    'answer | 990 ms',
    'record cost | 10 ms',
    'total | 2.00 s',
  ]);
  expect(stdout).not.toContain('\u001b[31mslow');
  expect(stdout).not.toContain('slow\u001b');
  // Half of the time had gone when the answer began.
  const answer = /[█░]+/.exec(bars[4] ?? '')?.[0] ?? '';
  expect(answer.indexOf('█')).toBe(answer.length / 2);
  for (const line of bars) expect(line.length).toBeLessThanOrEqual(100);
});

test('a trace is names and values in a pipe, and JSON on request', async () => {
  const { env } = await one();
  const piped = await runCli(['traces', 'req_1'], { env, now });
  expect(piped.stdout).toContain('total_ms\t1990\nsettled_ms\t2000\n');
  expect(piped.stdout).toContain('dropped\ttools[3] (web_search), text.verbosity\n');
  expect(piped.stdout).not.toContain('█');
  const json = await runCli(['traces', 'req_1', '--json'], { env, tty: true, now });
  expect(JSON.parse(json.stdout)).toEqual(trace);
});

test('the list is filtered, page by page', async () => {
  const pages = [
    { object: 'list', data: [trace], has_more: true, next: 'req_1' },
    { object: 'list', data: [{ ...trace, request_id: 'req_0' }], has_more: false, next: null },
  ];
  const { env, calls } = await fakeDaemon({ 'GET /v1/traces': () => pages.shift() });
  const { code, stdout } = await runCli(['traces', '--status', 'failed', '--since', '2026-11-01'], {
    env,
    now,
  });
  expect(code).toBe(0);
  expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['req_1', 'req_0', '']);
  const queries = calls.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams));
  expect(queries).toEqual([
    { status: 'failed', since: '2026-11-01', limit: '20' },
    { status: 'failed', since: '2026-11-01', limit: '19', after: 'req_1' },
  ]);
});

test.each([
  [['since:yesterday until:today'], { q: 'since:yesterday until:today' }],
  [['--since', 'yesterday'], { since: '2026-11-20' }],
  [
    ['since:yesterday until:today status:failed', '--tz', 'America/New_York'],
    { q: 'status:failed since:2026-11-20T05:00:00.000Z until:2026-11-22T05:00:00.000Z' },
  ],
  [
    ['since:2h', '--since', '2026-11-01', '--until', '2026-11-01', '--tz', 'America/New_York'],
    // The clocks were set back that day.
    { q: 'since:2h', since: '2026-11-01T04:00:00.000Z', until: '2026-11-02T05:00:00.000Z' },
  ],
])('the days of %j are those of the zone', async (args, expected) => {
  for (const [verb, path] of [
    ['list', '/v1/traces'],
    ['count', '/v1/traces/facets'],
  ] as const) {
    const { env, calls } = await fakeDaemon({
      'GET /v1/traces': () => ({ object: 'list', data: [], has_more: false, next: null }),
    });
    const clock = () => Date.parse('2026-11-21T12:00:00Z');
    await runCli(['traces', verb, ...args], { env, now: clock });
    const call = calls.find((one) => one.path.startsWith(`${path}?`));
    const { limit: _, ...query } = Object.fromEntries(new URL(call?.path ?? '', 'http://x').searchParams);
    expect(query).toEqual(expected);
  }
});

test('a list with previews asks for them once, and has what is kept', async () => {
  const other = { ...trace, request_id: 'req_2' };
  const { env, calls } = await fakeDaemon({
    'GET /v1/traces': () => ({ object: 'list', data: [trace, other], has_more: false, next: null }),
    'GET /v1/traces/previews': () => ({
      object: 'trace.previews',
      data: [{ request_id: 'req_2', question: 'Why?', answer: 'Because.' }],
    }),
  });
  const { stdout } = await runCli(['calls', '--preview', '--json=request_id,question,answer'], { env });
  expect(JSON.parse(stdout)).toEqual([
    { request_id: 'req_1', question: null, answer: null },
    { request_id: 'req_2', question: 'Why?', answer: 'Because.' },
  ]);
  const asked = calls.filter(({ path }) => path.startsWith('/v1/traces/previews'));
  expect(asked.map(({ path }) => decodeURIComponent(path))).toEqual([
    '/v1/traces/previews?requests=req_1,req_2',
  ]);
});

test('filters that begin with a minus are no options', async () => {
  for (const [args, q] of [
    [['list', '-client:curl'], '-client:curl'],
    [['-client:curl'], '-client:curl'],
    [
      ['list', '-client:curl', 'status:failed', '--model', 'a', '-tag:b=c'],
      'status:failed -client:curl -tag:b=c',
    ],
    [['list', 'status:failed', '--', '-client:curl'], 'status:failed -client:curl'],
  ] as const) {
    const { env, calls } = await fakeDaemon({
      'GET /v1/traces': () => ({ object: 'list', data: [], has_more: false, next: null }),
    });
    expect(await runCli(['traces', ...args], { env })).toMatchObject({ code: 0 });
    const { path } = calls.find((call) => call.path.startsWith('/v1/traces?')) ?? {};
    expect(new URL(path ?? '', 'http://x').searchParams.get('q')).toBe(q);
  }
  expect((await runCli(['traces', 'list', '-x'], { env: {} })).stderr).toContain("unknown option '-x'");
});

test('the timing of a call that was not streamed is said to be missing', async () => {
  const { env } = await fakeDaemon({ 'GET /v1/traces/req_1/content': () => ({ object: 'trace.content' }) });
  for (const args of [[], ['--json']]) {
    const { code, stderr } = await runCli(['traces', 'show', 'req_1', '--timing', ...args], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: The call was not streamed, or its timing is not kept.\n',
    });
  }
});

test('what is wrong with a query or a zone is said once', async () => {
  const { stderr } = await runCli(['traces', 'list', 'since:soon'], { env: {} });
  expect(stderr).toMatch(/^error: since:soon: Write a time ago /);
  const zone = await runCli(['traces', 'list', '--tz', 'Mars/Base'], { env: {} });
  expect(zone).toMatchObject({ code: 2, stderr: expect.stringContaining('a zone like Europe/Berlin') });
});

test('an invalid time is reported before any call', async () => {
  const { code, stderr } = await runCli(['traces', '--since', 'recently'], { env: {} });
  expect(code).toBe(2);
  expect(stderr).toContain('2026-11-01');
});

test('possible routes are models with their providers', async () => {
  const { env } = await one();
  const { stdout } = await runCli(['traces', 'req_1'], { env });
  expect(stdout).toMatch(/^routes\tacme\/large via slow, acme\/large via acme$/m);
});

test('a trace without attempts and dropped parts shows dashes on a terminal, nothing in a pipe', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/traces/req_1': () => ({ ...trace, attempts: [], routes: null, dropped: [] }),
  });
  const { stdout } = await runCli(['traces', 'req_1', '--no-color'], { env, tty: true, columns: 100, now });
  for (const label of ['attempts', 'routes', 'dropped'])
    expect(stdout).toMatch(new RegExp(`^${label} +–$`, 'm'));
  expect((await runCli(['traces', 'req_1'], { env })).stdout).toMatch(/^attempts\t\nroutes\t\ndropped\t$/m);
});

test('a call that waited says for what, in its record and on its timeline', async () => {
  const waits = [{ limit: 'provider', name: 'ollama', position: 3, started_ms: 1, ms: 1200 } as const];
  const { env } = await fakeDaemon({ 'GET /v1/traces/req_1': () => ({ ...trace, queue_ms: 1200, waits }) });
  const piped = await runCli(['traces', 'req_1'], { env });
  expect(piped.stdout).toMatch(/^waits\t1\.2\d? s for ollama, from position 3$/m);
  const { stdout } = await runCli(['traces', 'req_1', '--no-color'], { env, tty: true, columns: 120, now });
  expect(stdout).toMatch(/^queue +[█░]+ +1\.2\d? s +position 3 at ollama$/m);
});

const rejected: TraceView = {
  ...trace,
  response_id: null,
  provider: null,
  key: null,
  status: 'rejected',
  error_code: 'unauthenticated',
  rejection: {
    http_status: 401,
    param: null,
    message: 'A valid API key is required.',
    address: '10.0.0.7',
    more: 0,
  },
  attempts: [],
  routes: null,
  dropped: [],
};

test('a trace says nothing of what it has not', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/traces/req_1': () => trace,
    'GET /v1/traces/req_2': () => rejected,
  });
  const fieldsOf = async (id: string) => {
    const { stdout } = await runCli(['traces', id], { env });
    return stdout.split('\n').map((line) => line.split('\t')[0]);
  };
  const ordinary = await fieldsOf('req_1');
  for (const field of ['reason', 'param', 'http_status', 'more', 'address', 'error_code'])
    expect(ordinary).not.toContain(field);
  const refused = await fieldsOf('req_2');
  expect(refused).toEqual(
    expect.arrayContaining(['request_id', 'status', 'error_code', 'reason', 'address', 'key', 'endpoint']),
  );
  for (const field of ['param', 'more', 'provider', 'input', 'cost_usd', 'attempts', 'settled_ms'])
    expect(refused).not.toContain(field);
});

test('the list has the key at 80 columns, and where a rejected call came from in a pipe', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/traces': () => ({ object: 'list', data: [trace, rejected], has_more: false, next: null }),
    'GET /v1/workspaces/me/keys': () => ({
      object: 'list',
      data: [{ id: 'key_1', name: 'my-app', status: 'active' }],
      has_more: false,
      next: null,
    }),
  });
  const { stdout } = await runCli(['traces', '--no-color'], { env, tty: true, columns: 80, now });
  const [titles, first, second] = stdout.split('\n');
  expect(titles).toMatch(/^REQUEST ID +ENDED +STATUS +MODEL +KEY/);
  expect(first).toContain('my-app');
  expect(second).toContain('10.0.0.7');
  const piped = await runCli(['traces'], { env, now });
  // Further columns follow them.
  expect(piped.stdout.trimEnd().split('\n')[1]?.split('\t').slice(11, 13)).toEqual([
    '/v1/responses',
    '10.0.0.7',
  ]);
});
