import { expect, test } from 'vitest';
import type { EventView } from '../../../src/shared/contract/events.ts';
import type { ServeOptions } from '../../../src/shared/daemon-module.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';

const at = '2026-11-21T08:54:15.000Z';
const completed: EventView = {
  type: 'request.completed',
  sequence: null,
  created_at: at,
  data: {
    request_id: 'req_1',
    key: 'key_1',
    key_name: 'my-app',
    model: 'acme/large',
    provider: 'acme',
    status: 'completed',
    error_code: null,
    input_tokens: 1200,
    output_tokens: 34,
    cost_usd: '0.0012',
    ttft_ms: 120,
    total_ms: 2400,
  },
};
const rejected: EventView = {
  type: 'request.rejected',
  sequence: null,
  created_at: at,
  data: {
    request_id: 'req_2',
    endpoint: '/v1/responses',
    key: null,
    key_name: null,
    address: '10.0.0.7',
    model: null,
    status: 'rejected',
    http_status: 415,
    error_code: 'unsupported_media_type',
    message: 'The content type must be application/json in UTF-8.',
    more: 0,
    total_ms: 1,
  },
};

/** Runs `serve` with a daemon that reports these calls; resolves to the lines that were printed. */
async function linesFor(calls: EventView[], options: RunOptions & { args?: string[]; until?: string } = {}) {
  const { args = ['--no-color'], until, ...rest } = options;
  let printed = '';
  const { stdout } = await runCli(['serve', ...args], {
    tty: true,
    columns: 140,
    onStdout: (text) => {
      printed += text;
    },
    serve: async ({ showCall }: ServeOptions) => {
      for (const call of calls) showCall?.(call);
      if (until !== undefined) await eventually(until, () => printed.includes(until));
      return 0;
    },
    ...rest,
  });
  return stdout.split('\n').slice(0, -1);
}

test('each call is a line with its key, model, provider, status, tokens, cost and time', async () => {
  const [finished, refused] = await linesFor([completed, rejected]);
  expect(finished).toMatch(
    /^\d\d:\d\d:15 +my-app +acme\/large → acme +completed +1,200 → 34 +\$0\.0012 +2\.40 s$/,
  );
  expect(refused).toMatch(/^\d\d:\d\d:15 +10\.0\.0\.7 +\/v1\/responses +unsupported_me…$/);
});

/** A call that a provider failed, with what it said. */
const failed: EventView = {
  ...completed,
  type: 'request.failed',
  data: {
    ...completed.data,
    status: 'failed',
    error_code: 'upstream_failed',
    output_tokens: 0,
    message: 'The cluster in Ohio is on fire.',
  },
};

test.each([80, 100, 120, 160])('columns align whatever became of a call, on %i columns', async (columns) => {
  const lines = await linesFor([completed, rejected, failed], { columns });
  const starts = ['completed', 'unsupported', 'upstream_f'].map((word) =>
    lines.map((line) => line.indexOf(word)).find((at) => at > 30),
  );
  expect(new Set(starts).size).toBe(1);
  const text = lines.join(' ').replace(/\s+/g, ' ');
  expect(text).toContain('unsupported_media_type: The content type must be application/json in UTF-8.');
  expect(text).toContain('The cluster in Ohio is on fire.');
});

test('a terminal of 80 columns has room for the key, the model and the cost', async () => {
  const [line] = await linesFor([completed], { columns: 80 });
  expect(line).toMatch(/^\d\d:\d\d:15 {2}my-app +acme\/large → acme +completed +\$0\.0012 +2\.40 s$/);
});

test.each([40, 50, 60, 80, 100, 140])('lines fit a terminal of %i columns', async (columns) => {
  const long = { ...completed, data: { ...completed.data, model: 'openrouter/some-model-with-a-long-name' } };
  for (const line of await linesFor([long, rejected], { columns })) {
    expect(line.length).toBeLessThanOrEqual(columns);
    expect(line).toMatch(/completed|unsupported|^ {8,10}\S/);
  }
});

test('a reason that does not fit is on lines of its own', async () => {
  expect((await linesFor([rejected], { columns: 70 })).slice(1)).toEqual([
    '          unsupported_media_type: The content type must be',
    '          application/json in UTF-8.',
  ]);
});

test('names cannot send control characters to the terminal', async () => {
  const [line] = await linesFor([{ ...completed, data: { ...completed.data, model: '\u001b[31mred' } }]);
  expect(line).not.toContain('\u001b');
});

test('more than a person can read are counted by their outcome', async () => {
  const flood = { ...rejected, data: { ...rejected.data, more: 99 } };
  const calls = [...Array.from({ length: 50 }, () => completed), flood];
  const lines = await linesFor([...calls], { until: 'more:' });
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toBe('… and 130 more: 30 completed, 100 unsupported_media_type');
});

test.each<[string, RunOptions & { args?: string[] }]>([
  ['with --quiet', { args: ['--quiet'] }],
  ['into a pipe', { tty: false }],
])('nothing is printed %s', async (_what, options) => {
  expect(await linesFor([completed, rejected], options)).toEqual([]);
});

test('colours follow --no-color and NO_COLOR', async () => {
  expect((await linesFor([completed], { args: [] })).join('')).toContain('\u001b[32mcompleted');
  expect((await linesFor([completed], { args: [], env: { NO_COLOR: '1' } })).join('')).not.toContain(
    '\u001b',
  );
});
