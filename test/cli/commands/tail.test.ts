import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type RunOptions, runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const at = '2026-11-21T08:54:15.000Z';
const finished = (sequence: number, members: object = {}) => ({
  type: 'request.completed',
  sequence,
  created_at: at,
  data: {
    request_id: `req_${sequence}`,
    model: 'sim/assistant',
    provider: 'simulator',
    status: 'completed',
    error_code: null,
    input_tokens: 1200,
    output_tokens: 34,
    cost_usd: '0.0001',
    ttft_ms: 120,
    total_ms: 2400,
    ...members,
  },
});
const started = { type: 'request.started', sequence: null, created_at: at, data: { request_id: 'req_9' } };

function send(reply: ServerResponse, events: { sequence: number | null }[]): void {
  reply.setHeader('content-type', 'text/event-stream');
  reply.write(': following\n\n');
  for (const event of events) {
    const id = event.sequence === null ? '' : `id: ${event.sequence}\n`;
    reply.write(`${id}data: ${JSON.stringify(event)}\n\n`);
  }
}

/** Runs `tail` until its output holds a text. */
async function tailUntil(text: string, args: string[], options: RunOptions) {
  const ctrlC = new AbortController();
  let seen = '';
  const onStdout = (piece: string) => {
    seen += piece;
    if (seen.includes(text)) ctrlC.abort(new Error('interrupted'));
  };
  return runCli(['tail', ...args], { ...options, interrupt: ctrlC.signal, onStdout });
}

describe('tail', () => {
  const following = (events: { sequence: number | null }[]) =>
    fakeDaemon({ 'GET /v1/events': (_call, reply) => new Promise(() => send(reply, events)) });

  test('prints a line for each finished request until Ctrl-C', async () => {
    const failed = finished(2, {
      status: 'failed',
      error_code: 'upstream_failed',
      provider: null,
      ttft_ms: null,
    });
    const { env, url } = await following([started, finished(1), { ...failed, type: 'request.failed' }]);
    const { code, stdout, stderr } = await tailUntil('req_2', ['--no-color'], {
      env,
      tty: true,
      columns: 145,
    });
    expect(code).toBe(exitCodes.interrupted);
    expect(stderr).toContain(`Following ${url}`);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^TIME +STATUS +MODEL +KEY +PROVIDER +TOKENS +COST +TOTAL +REQUEST$/);
    expect(lines[1]).toMatch(
      /^\d\d:\d\d:15 +completed +sim\/assistant +login +simulator +1,200 → 34 +\$0\.0001 +2\.40 s +req_1$/,
    );
    expect(lines[2]).toMatch(/:15 +upstream_failed +sim\/assistant +login +– .* req_2$/);
  });

  test.each([
    [
      ['--model', 'sim/echo'],
      ['req_2', 'req_3'],
    ],
    [
      ['--status', 'failed'],
      ['req_1', 'req_3'],
    ],
    [['--status', 'failed', '--model', 'sim/echo'], ['req_3']],
  ])('shows only what %j asks for', async (filter, shown) => {
    const all = [
      finished(1, { status: 'failed' }),
      finished(2, { model: 'sim/echo' }),
      finished(3, { model: 'sim/echo', status: 'failed' }),
    ];
    const { env } = await following(all);
    const { stdout } = await tailUntil('req_3', filter, { env });
    expect([...stdout.matchAll(/req_\d/g)].map(([id]) => id)).toEqual(shown);
  });

  test('asks the daemon for the events of a key', async () => {
    const { env, calls } = await fakeDaemon({
      'GET /v1/workspaces/me/keys': () => ({
        data: [{ id: 'key_1', name: 'ci', status: 'active' }],
        next: null,
      }),
      'GET /v1/events': (_call, reply) => new Promise(() => send(reply, [finished(1)])),
    });
    await tailUntil('req_1', ['--key', 'ci'], { env });
    expect(calls.map(({ path }) => path)).toContain('/v1/events?key=key_1');
  });

  test('shows keys by name, also those that are issued meanwhile', async () => {
    const key = (id: string, name: string, status = 'active') => ({ id, name, status });
    const lists = [[key('key_1', 'ci')], [key('key_2', 'app'), key('key_1', 'ci', 'revoked')]];
    const issued = { type: 'key.issued', sequence: 2, created_at: at, data: { key: 'key_2' } };
    const { env } = await fakeDaemon({
      'GET /v1/workspaces/me/keys': () => ({
        object: 'list',
        data: lists.shift(),
        has_more: false,
        next: null,
      }),
      'GET /v1/events': (_call, reply) =>
        new Promise(() =>
          send(reply, [finished(1, { key: 'key_1' }), issued, finished(3, { key: 'key_2' })]),
        ),
    });
    const options = { env, tty: true, columns: 100 };
    const { stdout } = await tailUntil('app  ', ['--no-color'], options);
    expect(stdout).toMatch(/completed +sim\/assistant +ci /);
    expect(stdout).toMatch(/key\.issued +key=app\n/);
    expect(stdout).toMatch(/completed +sim\/assistant +app /);
  });

  test('prints why a request was rejected, once', async () => {
    const rejected = {
      type: 'request.rejected',
      sequence: 3,
      created_at: at,
      data: {
        request_id: 'req_3',
        endpoint: '/v1/responses',
        address: '10.0.0.7',
        model: 'acme/large',
        status: 'rejected',
        error_code: 'limit_reached',
        message: 'The key has reached its spending limit.',
        more: 4311,
        total_ms: 1,
      },
    };
    const limit = { ...rejected, type: 'limit.reached', sequence: null };
    const events = [limit, rejected];
    const { env } = await following(events);
    const { stdout } = await tailUntil('req_3', ['--no-color'], { env, tty: true, columns: 140 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/:15 +limit_reached +acme\/large +10\.0\.0\.7 +req_3$/);
    expect(lines[2]).toMatch(/^ {10}and 4,311 more like it: The key has reached its spending limit\.$/);
    const piped = await tailUntil('req_3', [], { env: (await following(events)).env });
    expect(piped.stdout).toContain('The key has reached its spending limit.\t/v1/responses\t\t10.0.0.7\n');
  });

  test('prints a reason in the line of its request if it fits there', async () => {
    const rejected = (sequence: number, message: string) =>
      finished(sequence, { status: 'rejected', error_code: 'no_route', message });
    // As wide as PROVIDER, TOKENS, COST, FIRST and TOTAL together.
    const reason = 'No provider has this model.'.padEnd(57, '!');
    const { env } = await following(
      [rejected(1, reason), rejected(2, `${reason}!`)].map((event) => ({
        ...event,
        type: 'request.rejected',
      })),
    );
    const { stdout } = await tailUntil('!!\n', ['--no-color'], { env, tty: true, columns: 160 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[1]?.endsWith(`  ${reason}  req_1`)).toBe(true);
    expect(lines[2]?.trimEnd().endsWith('req_2')).toBe(true);
    expect(lines[3]).toBe(`${' '.repeat(10)}${reason}!`);
  });

  test.each([80, 100, 140, 160])('keeps its columns below their titles at %i columns', async (columns) => {
    const events = [
      {},
      { cost_usd: '0.00018264', input_tokens: 9_999, output_tokens: 9_999 },
      { cost_usd: '3.456789012', input_tokens: 1_234_567, output_tokens: 45_678, total_ms: 754_000 },
      { cost_usd: null, ttft_ms: 61_000, total_ms: 7_200_000, model: 'a-model-of-a-long-name' },
    ].map((members, at) => finished(at + 1, members));
    const { env } = await following(events);
    const { stdout } = await tailUntil('a-mode', ['--no-color'], { env, tty: true, columns });
    const [titles = '', ...lines] = stdout.trimEnd().split('\n');
    const starts = [...titles.matchAll(/\S+/g)].map(({ index }) => index).slice(1);
    for (const line of lines)
      for (const start of starts)
        expect([line, line.slice(start - 2, start + 1)]).toEqual([line, expect.stringMatching(/^ {2}\S/)]);
  });

  test.each([26, 34, 40, 43, 50, 60, 80, 100, 130])('fits a terminal of %i columns', async (columns) => {
    const { env } = await following([finished(1, { model: 'openrouter/some-model-with-a-long-name' })]);
    const { stdout } = await tailUntil('openr', ['--no-color'], { env, tty: true, columns });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    expect(stdout).toMatch(columns < 43 ? /completed +openr\S*…/ : / completed +openr\S*… .*2\.40 s/);
  });

  test.each([60, 80, 100, 140])('a long cost is shown whole on a terminal of %i columns', async (columns) => {
    const { env } = await following([
      finished(1, { model: 'openrouter/some-model-with-a-long-name', cost_usd: '0.001175991' }),
    ]);
    const { stdout } = await tailUntil('openr', ['--no-color'], { env, tty: true, columns });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    if (columns >= 80) expect(stdout).toContain('$0.001175991');
  });

  test('is tab-separated in a pipe', async () => {
    const { env } = await following([finished(1)]);
    const { stdout } = await tailUntil('req_1', [], { env });
    expect(stdout).toBe(
      `${at}\tcompleted\t\tsim/assistant\tsimulator\t1200\t34\t0.0001\t120\t2400\treq_1\t\t\t\t\n`,
    );
  });

  test('has the same columns in a pipe for all requests', async () => {
    const rejected = { status: 'rejected', error_code: 'limit_reached', message: 'Too much.', key: 'key_1' };
    const events = [
      finished(1, { endpoint: '/v1/responses', key: 'key_1' }),
      { ...finished(2, { status: 'failed', error_code: 'upstream_failed' }), type: 'request.failed' },
      { ...finished(3, rejected), type: 'request.rejected' },
    ];
    const { stdout } = await tailUntil('req_3', [], { env: (await following(events)).env });
    const rows = stdout
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => line.split('\t'));
    expect(rows.map((cells) => cells.length)).toEqual([15, 15, 15]);
    expect(rows[0]?.slice(-4)).toEqual(['', '/v1/responses', 'key_1', '']);
    expect(rows[2]?.slice(-4)).toEqual(['Too much.', '', 'key_1', '']);
  });

  test('prints every event as a line of JSON with --json', async () => {
    const { env } = await following([started, finished(1)]);
    const { stdout } = await tailUntil('req_1', ['--json'], { env });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([started, finished(1)]);
  });

  test('shows other events, with control characters made visible', async () => {
    const event = {
      type: 'key.issued',
      sequence: 1,
      created_at: at,
      data: { name: '\u001b[2Jci', count: 2 },
    };
    const { env } = await following([event]);
    const { stdout } = await tailUntil('\n', ['--no-color'], { env, tty: true });
    expect(stdout).toMatch(/key\.issued +name=␛\[2Jci +count=2\n$/);
  });

  test('survives a restart of the daemon without missing events', async () => {
    const home = await temporaryHome();
    const first = await fakeDaemon(
      { 'GET /v1/events': (_call, reply) => new Promise(() => send(reply, [finished(7)])) },
      { home },
    );
    let restart: ReturnType<typeof fakeDaemon> | undefined;
    const ctrlC = new AbortController();
    const { stdout, stderr } = await runCli(['tail', '--json=sequence'], {
      env: first.env,
      interrupt: ctrlC.signal,
      async onStdout(text) {
        if (text.includes('8')) ctrlC.abort(new Error('interrupted'));
        if (!text.includes('7')) return;
        await first.close();
        // It comes back at another address.
        restart = fakeDaemon(
          { 'GET /v1/events': (_call, reply) => new Promise(() => send(reply, [finished(8)])) },
          { home },
        );
      },
    });
    expect(stdout).toBe('{"sequence":7}\n{"sequence":8}\n');
    // The event may arrive before the daemon is known to have started.
    const restarted = await restart;
    expect(restarted?.calls.map(({ headers }) => headers['last-event-id'])).toContain('7');
    expect(stderr.match(/Connection lost/g)).toHaveLength(1);
    expect(stderr).toContain(`Reconnected to ${restarted?.url}`);
  });

  test.each([
    ['starts after the given event', ['--after', '3'], '/v1/events?after=3'],
    ['starts now by default', [], '/v1/events'],
  ])('%s', async (_what, args, path) => {
    const { env, calls } = await following([finished(4)]);
    await tailUntil('req_4', args, { env });
    expect(calls[0]?.path).toBe(path);
  });

  test('does not retry after a refusal', async () => {
    const { env, calls } = await fakeDaemon({
      'GET /v1/events': (_call, reply) => fail(reply, 403, { code: 'out_of_scope', message: 'No.' }),
    });
    expect((await runCli(['tail'], { env })).code).toBe(exitCodes.refused);
    expect(calls).toHaveLength(1);
  });

  test('fails immediately without a daemon', async () => {
    const { code } = await runCli(['tail'], { env: { GATEWAY_HOME: await temporaryHome() } });
    expect(code).toBe(exitCodes.tryLater);
  });
});
