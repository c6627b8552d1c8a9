import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const none = { count: 0, p50: null, p90: null, p95: null, p99: null };
const spread = (p50: number, p95: number) => ({ count: 7, p50, p90: p95, p95, p99: p95 });

async function daemon() {
  const asked: Record<string, string>[] = [];
  const { env } = await fakeDaemon({
    'GET /v1/usage/latency': ({ path }) => {
      asked.push(Object.fromEntries(new URL(path, 'http://localhost').searchParams));
      const series = (group: string, [first, total]: [object, object]) => ({
        group,
        first_token_ms: [none, first],
        total_ms: [none, total],
        overhead_ms: [none, none],
        tokens_per_second: [none, spread(50, 60)],
      });
      return {
        object: 'usage.latency',
        tz: 'Asia/Kathmandu',
        bucket: 'day',
        buckets: [
          { start: '2026-11-20T18:15:00.000Z', end: '2026-11-21T18:15:00.000Z' },
          { start: '2026-11-21T18:15:00.000Z', end: '2026-11-22T18:15:00.000Z' },
        ],
        series: [
          series('openai/gpt-5', [spread(300, 900), spread(1000, 4000)]),
          series('sim/echo', [none, none]),
        ],
      };
    },
  });
  return { env, asked };
}

test('usage --latency has the percentiles of each day of the zone on which calls were answered', async () => {
  const { env, asked } = await daemon();
  const args = ['usage', '--latency', '--group-by', 'day,model', '--tz', 'Asia/Kathmandu', '--csv'];
  const { stdout, code } = await runCli(args, { env });
  expect(code).toBe(0);
  expect(stdout.split('\r\n')).toEqual([
    'day,model,calls,first_token_p50,first_token_p95,total_p50,total_p95,total_p99,tokens_per_second_p50,overhead_p95',
    '2026-11-22,openai/gpt-5,7,300,900,1000,4000,4000,50,',
    '',
  ]);
  expect(asked).toEqual([{ bucket: 'day', group_by: 'model', tz: 'Asia/Kathmandu' }]);
});

test('usage --latency cannot be asked for what no histogram has', async () => {
  const { env, asked } = await daemon();
  for (const args of [
    ['--group-by', 'key'],
    ['--group-by', 'model,provider'],
    ['--key', 'key_1'],
    ['req_1'],
  ]) {
    const { code } = await runCli(['usage', 'show', ...args, '--latency'], { env });
    expect(code, args.join(' ')).toBe(exitCodes.usage);
  }
  expect(asked).toEqual([]);
});
