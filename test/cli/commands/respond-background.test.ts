import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { drips, hangs, stallsAfter, words } from '../../support/chaos-behaviours.ts';
import { type ChaosDaemon, startChaosDaemon } from '../../support/chaos-daemon.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { fail, fakeDaemon, sendEvents } from '../fake-daemon.ts';

let place: ChaosDaemon;

beforeAll(async () => {
  place = await startChaosDaemon();
  place.chaos.on('slow', drips(10));
  place.chaos.on('stalled', stallsAfter(8));
  place.chaos.on('silent', hangs());
});

afterAll(async () => {
  await place.close();
});

const gateway = (args: string[], options: RunOptions = {}) =>
  runCli(args, { ...options, env: { GATEWAY_HOME: place.daemon.home } });

async function begin(model: string, ...flags: string[]): Promise<string> {
  const { code, stdout } = await gateway(['respond', '--background', '-m', `chat/${model}`, ...flags, 'Go.']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^resp_\w+\n$/)]);
  return stdout.trim();
}

describe('respond --background', () => {
  test('prints the id, and the response can be watched', async () => {
    const id = await begin('slow');
    expect(await gateway(['responses', 'watch', id])).toMatchObject({ code: 0, stdout: `${words}\n` });
    expect(await gateway(['responses', 'get', id])).toMatchObject({ code: 0, stdout: `${words}\n` });
  });

  test('can be watched as text or as events', async () => {
    const id = await begin('slow');
    let pieces = 0;
    const live = await gateway(['responses', 'watch', id, '--stream'], { onStdout: () => (pieces += 1) });
    expect(live).toMatchObject({ code: 0, stdout: `${words}\n` });
    expect(pieces).toBeGreaterThan(5);
    const events = await gateway(['responses', 'watch', id, '--stream', '--json']);
    const types = events.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect([types[0], types[1], types.at(-1)]).toEqual([
      'response.created',
      'response.queued',
      'response.completed',
    ]);
  });

  test('follows the response with --stream, and Ctrl-C leaves it running', async () => {
    const interrupt = new AbortController();
    const left = await gateway(['respond', '--background', '--stream', '-m', 'chat/slow', 'Go.'], {
      interrupt: interrupt.signal,
      onStdout: () => interrupt.abort(),
    });
    expect(left.code).toBe(exitCodes.interrupted);
    expect(left.stderr).toMatch(/gateway responses watch resp_\w+\n/);
    await place.waitUntilIdle();
    const { usage } = place.ledger();
    expect(
      usage.filter(({ model }) => model === 'chat/slow').every(({ status }) => status === 'completed'),
    ).toBe(true);
  });

  test('with an idempotency key starts only once, and is watched without events', async () => {
    const flags = ['--idempotency-key', 'nightly'];
    const id = await begin('slow', ...flags);
    expect(await begin('slow', ...flags)).toBe(id);
    expect(await gateway(['responses', 'watch', id])).toMatchObject({ code: 0, stdout: `${words}\n` });
  });
});

test('respond --idempotency-key makes the call once', async () => {
  const args = ['respond', '--idempotency-key', 'once', '-m', 'chat/once', 'Go.'];
  const [first, second] = [await gateway(args), await gateway(args)];
  expect(first).toMatchObject({ code: 0, stdout: `${words}\n` });
  expect(second.stdout).toBe(first?.stdout);
  expect(place.chaos.callsOf('once')).toHaveLength(1);
  const [, requestId = ''] = /(req_\w+)/.exec(first?.stderr ?? '') ?? [];
  expect(first?.stderr).not.toContain('not charged again');
  expect(second.stderr).toContain(requestId);
  expect(second.stderr).toContain('not charged again');
  const other = await gateway([...args.slice(0, -1), 'Something else.']);
  expect(other.code).toBe(exitCodes.failed);
  expect(other.stderr).toContain('idempotency_conflict');
  expect((await gateway([...args, '--stream'])).code).toBe(exitCodes.usage);
});

test('responses list shows finished and running responses', async () => {
  const running = await begin('silent');
  const done = await begin('listed');
  await gateway(['responses', 'watch', done]);
  const { stdout } = await gateway(['responses', 'list', '--limit', '2']);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t').slice(0, 4)),
  ).toEqual([
    [done, 'completed', 'chat/listed', 'true'],
    [running, 'queued', 'chat/silent', 'true'],
  ]);
  const page = await place.daemon.fetch(`/v1/stored-responses?limit=1&after=${done}`);
  expect(await page.json()).toMatchObject({ data: [{ id: running }], has_more: true, next: running });
  await gateway(['responses', 'cancel', running]);
});

test('responses cancel ends a response and its watchers', async () => {
  const id = await begin('stalled');
  const watching = gateway(['responses', 'watch', id, '--stream'], {
    onStdout: () => void gateway(['responses', 'cancel', id]),
  });
  const watched = await watching;
  expect(watched.code).toBe(exitCodes.partlyDone);
  expect(watched.stderr).toContain('cancelled');
  const again = await gateway(['responses', 'cancel', id]);
  expect(again.code).toBe(0);
  const silent = await begin('silent');
  const running = await gateway(['responses', 'get', silent]);
  expect(running.stderr).toContain(`gateway responses watch ${silent}`);
  expect((await gateway(['responses', 'cancel', silent])).stderr).toContain(`Cancelled ${silent}.`);
});

test('responses watch survives lost connections without repeating output', async () => {
  const delta = (sequence_number: number, text: string) => ({
    type: 'response.output_text.delta',
    sequence_number,
    delta: text,
  });
  const response = { id: 'resp_1', status: 'completed', model: 'm', output: [], usage: null };
  const asked: (string | null)[] = [];
  const { env } = await fakeDaemon({
    'GET /v1/responses/resp_1': async ({ path }, reply) => {
      asked.push(new URL(path, 'http://daemon').searchParams.get('starting_after'));
      if (asked.length === 1) {
        await sendEvents(reply, [delta(3, 'one '), delta(4, 'two ')], { done: false });
        return reply.end();
      }
      if (asked.length === 2) return fail(reply, 503, { code: 'unavailable', message: 'Starting.' });
      const last = { type: 'response.completed', sequence_number: 6, response };
      return sendEvents(reply, [delta(5, 'three'), last]);
    },
  });
  const { code, stdout, stderr } = await runCli(['responses', 'watch', 'resp_1', '--stream'], { env });
  expect({ code, stdout, asked }).toEqual({ code: 0, stdout: 'one two three\n', asked: [null, '4', '4'] });
  expect(stderr.match(/Connection lost/g)).toHaveLength(1);
});
