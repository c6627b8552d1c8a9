import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type RunOptions, runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const at = '2026-11-21T08:54:15.000Z';
const event = (sequence: number, type: string, message: string) => ({
  type,
  sequence,
  created_at: at,
  data: { alert: 'slow', kind: 'p95_total', value: '9200', threshold: '8000', message },
});
const firing = { alert: 'old', fired_at: at, message: 'It is slow.' };
const list = (data: object[]) => ({ object: 'list', data, has_more: false, next: null });

/** A stream that ends after its events, or stays open. */
function send(reply: ServerResponse, events: { sequence: number }[], { stays }: { stays: boolean }) {
  reply.setHeader('content-type', 'text/event-stream');
  reply.write(': following\n\n');
  for (const each of events) reply.write(`id: ${each.sequence}\ndata: ${JSON.stringify(each)}\n\n`);
  if (!stays) reply.end();
}

/** Runs `alerts watch` until its output holds a text. */
function watchUntil(text: string, args: string[], options: RunOptions) {
  const ctrlC = new AbortController();
  let seen = '';
  const onText = (piece: string) => {
    seen += piece;
    if (seen.includes(text)) ctrlC.abort(new Error('interrupted'));
  };
  const watched = { ...options, interrupt: ctrlC.signal, onStdout: onText, onStderr: onText };
  return runCli(['alerts', 'watch', '--no-color', ...args], watched);
}

describe('alerts watch', () => {
  test('shows what fires already, and continues after the last event when the connection is lost', async () => {
    const opened: (string | undefined)[] = [];
    const { env } = await fakeDaemon({
      'GET /v1/workspaces/me/alerts/fired': () => list([firing]),
      'GET /v1/events': ({ headers, path }, reply) => {
        expect(path).toContain('type=alert.');
        opened.push(headers['last-event-id'] as string | undefined);
        if (opened.length === 1)
          return send(reply, [event(5, 'alert.fired', 'Slow\u001b[2J.')], { stays: false });
        return new Promise(() => send(reply, [event(6, 'alert.resolved', 'Fast.')], { stays: true }));
      },
    });
    const { code, stdout, stderr } = await watchUntil('Fast.', [], { env });
    expect(code).toBe(exitCodes.interrupted);
    expect(opened).toEqual([undefined, '5']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/^\S+ +/, ''));
    expect(lines).toEqual([
      'firing    old  It is slow.',
      'firing    slow  Slow␛[2J.',
      'resolved  slow  Fast.',
    ]);
    expect(stderr).toContain('Reconnected');
  });

  test('runs a command for what fires already, once for each firing', async () => {
    const fired = { ...firing, id: 'firing_1', kind: 'p95_total', value: '9200', threshold: '8000' };
    const live = (sequence: number, id: string, type: string) => {
      const { data, ...rest } = event(sequence, type, 'Slow.');
      return { ...rest, data: { ...data, firing: id } };
    };
    const { env } = await fakeDaemon({
      'GET /v1/workspaces/me/alerts/fired': () => list([fired]),
      'GET /v1/events': (_call, reply) => {
        const events = [
          live(5, 'firing_1', 'alert.fired'),
          live(6, 'firing_1', 'alert.resolved'),
          live(7, 'firing_2', 'alert.fired'),
        ];
        return new Promise(() => send(reply, events, { stays: true }));
      },
    });
    const run = async (...more: string[]) => {
      const file = join(await temporaryHome(), 'ran');
      const line = '"$GATEWAY_ALERT_EVENT $GATEWAY_ALERT $GATEWAY_ALERT_VALUE"';
      const command = `echo ${line} >> ${file}; test "$(grep -c . ${file})" -lt 3`;
      await watchUntil('ended with', ['--exec', command, ...more], {
        env: { ...env, PATH: process.env.PATH ?? '' },
      });
      return (await readFile(file, 'utf8')).trim().split('\n');
    };
    const others = ['alert.resolved slow 9200', 'alert.fired slow 9200'];
    expect(await run()).toEqual(['alert.fired old 9200', ...others]);
    // Who names where to continue gets the event itself.
    expect(await run('--after', '4')).toEqual(['alert.fired slow 9200', ...others]);
  });

  test('runs a command for each event, and reports one that fails', async () => {
    const { env } = await fakeDaemon({
      'GET /v1/workspaces/me/alerts/fired': () => list([]),
      'GET /v1/events': (_call, reply) =>
        new Promise(() => send(reply, [event(5, 'alert.fired', 'Slow.')], { stays: true })),
    });
    const command =
      'test "$GATEWAY_ALERT $GATEWAY_ALERT_VALUE $GATEWAY_ALERT_EVENT" = "slow 9200 alert.fired" && exit 7';
    const { stderr } = await watchUntil('ended with', ['--exec', command], {
      env: { ...env, PATH: process.env.PATH ?? '' },
    });
    expect(stderr).toContain('The command ended with 7: ');
  });
});

describe('alerts add', () => {
  const missing = {
    'GET /v1/workspaces/me/alerts/slow': (_call: unknown, reply: ServerResponse) =>
      fail(reply, 404, { code: 'not_found', message: 'No.' }),
  };

  test.each([
    [['p95_total', '8s'], '8000'],
    [['p95_total', '0.5s'], '500'],
    [['p95_total', '800ms'], '800'],
    [['error_share', '2.5%'], '2.5'],
    [['spend', '$5'], '5'],
    [['rejections', '10'], '10'],
    [['silence'], null],
  ])('%j has the threshold %j', async (args, threshold) => {
    const bodies: unknown[] = [];
    const { env } = await fakeDaemon({
      ...missing,
      'PUT /v1/workspaces/me/alerts/slow': ({ body }) => {
        bodies.push(body);
        return {
          id: 'slow',
          ...(body as object),
          state: 'ok',
          since: at,
          value: null,
          webhook: null,
          webhook_secret: null,
        };
      },
    });
    const { code, stderr } = await runCli(['alerts', 'add', 'slow', ...args, '--window', '1d'], { env });
    expect([code, stderr]).toEqual([exitCodes.done, '']);
    expect(bodies).toMatchObject([{ kind: args[0], threshold, window_minutes: 1440 }]);
  });

  test.each([
    [['spend', '5%'], 'in dollars'],
    [['p95_total', '5%'], 'in milliseconds or seconds'],
    [['silence', '5'], 'has no threshold'],
    [['p95_total', '8'], 'Write 8s or 8ms.'],
    [['error_share', '0.05'], 'like 5% or 0.05%.'],
    [['spend', 'much'], 'like 5, $5, 5%'],
    [['spend', '5', '--window', '1w'], 'like 15m, 1h or 7d'],
  ])('%j is refused', async (args, reason) => {
    const { env } = await fakeDaemon(missing);
    const { code, stderr } = await runCli(['alerts', 'add', 'slow', ...args], { env });
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain(reason);
  });

  test('reads the address of a web hook from standard input, and shows the secret once in any format', async () => {
    const bodies: unknown[] = [];
    const { env } = await fakeDaemon({
      ...missing,
      'PUT /v1/workspaces/me/alerts/slow': ({ body }) => {
        bodies.push(body);
        const webhook = { origin: 'https://hooks.example.com', last_delivery: null };
        return {
          id: 'slow',
          ...(body as object),
          state: 'ok',
          since: at,
          value: null,
          webhook,
          webhook_secret: 'whsec_1',
        };
      },
    });
    const args = ['alerts', 'add', 'slow', 'silence', '--webhook', '-', '--jq', '.id'];
    const { stdout, stderr } = await runCli(args, { env, stdin: 'https://hooks.example.com/hidden\n' });
    expect(bodies).toMatchObject([{ webhook_url: 'https://hooks.example.com/hidden' }]);
    expect([stdout, stderr.includes('whsec_1')]).toEqual(['slow\n', true]);
  });
});
