import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../src/cli/output/width.ts';
import type { Key } from '../../../src/shared/contract/keys.ts';
import { keys, openTui, type TestCall } from '../../support/open-tui.ts';

const at = Date.parse('2026-11-21T09:00:00Z');

function finished(number: number, more: Record<string, unknown> = {}) {
  return {
    type: 'request.completed',
    sequence: number,
    created_at: new Date(at + number).toISOString(),
    data: {
      request_id: `req_${number}`,
      model: `sim/model-${number}`,
      provider: 'simulator',
      key: null,
      endpoint: '/v1/responses',
      status: 'completed',
      input_tokens: 10,
      output_tokens: 1234,
      cost_usd: '0.000042',
      ttft_ms: 12,
      total_ms: 850,
      ...more,
    },
  };
}

function key(id: string, more: Partial<Key> = {}): Key {
  return {
    id,
    name: id.slice(4),
    workspace: 'ws_1',
    owner: 'user_1',
    status: 'active',
    scopes: ['responses'],
    models: null,
    actions: null,
    limits: {
      spend_cap: null,
      max_price: null,
      models: null,
      requests_per_minute: null,
      concurrency: null,
      queue_seconds: null,
      expires_at: null,
    },
    defaults: { cache: null, store: null, events: null, capture: null },
    hint: 'gwk_aB3d…x9Zk',
    created_at: new Date(at).toISOString(),
    last_used_at: null,
    revoked_at: null,
    rotated_at: null,
    paused_at: null,
    ...more,
  };
}

const page = (data: unknown[]) => ({ object: 'list', data, has_more: false, next: null });
const keyList = 'GET /v1/workspaces/{workspace}/keys';

describe('the screen', () => {
  test.each([
    [80, 24],
    [100, 30],
    [160, 50],
    [200, 60],
    [46, 10],
  ])('fills a terminal of %i × %i', async (columns, rows) => {
    const tui = openTui({ columns, rows });
    for (let number = 0; number < 100; number += 1) tui.calls.apply(finished(number));
    tui.state.changed();
    await tui.shows('sim/model-99');
    expect(tui.lines()).toHaveLength(rows);
    for (const line of tui.lines()) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    expect(tui.lines()[0]).toMatch(/^Gateway · ○ connecting/);
    expect(tui.lines().at(-1)).toContain('open');
  });

  test('opens each screen by the number next to its name', async () => {
    const tui = openTui({ columns: 120 });
    await tui.shows(/❯ 1 Calls.*\n +2 Keys/);
    for (const [number, title] of ['Calls', 'Keys', 'Usage', 'Models', 'Providers'].entries()) {
      tui.type(String(number + 1));
      await tui.shows(new RegExp(`❯ ${number + 1} ${title}`));
      await tui.shows(`── ${title} `);
    }
    tui.resize({ columns: 80, rows: 24 });
    await tui.shows(/^ Overview 1Calls 2Keys .*\[5Providers\]6Threads 7Whispers 8Shouts …$/m);
    tui.type('0');
    await tui.shows(/^….* 8Shouts 9Wallet\[0API calls\]…$/m);
  });

  test('has one pane below 100 columns, and more on wider terminals', async () => {
    const tui = openTui({ columns: 99 });
    tui.calls.apply(finished(1));
    tui.state.changed();
    await tui.shows('sim/model-1');
    expect(tui.frame()).not.toContain('│');
    tui.resize({ columns: 120, rows: 24 });
    await tui.shows(/❯ 1 Calls +│/);
    tui.resize({ columns: 160, rows: 24 });
    await tui.shows(/│ call +req_1/);
    tui.type('+');
    await tui.shows(/^((?!│).)*$/s);
  });

  test('shows the connection to the daemon in words', async () => {
    const tui = openTui({ now: () => at });
    const is = (connection: typeof tui.state.connection) => {
      tui.state.connection = connection;
      tui.state.changed();
    };
    is({ state: 'live' });
    await tui.shows(/^Gateway · ● live/);
    is({ state: 'lost', retryAt: at + 2500 });
    await tui.shows('disconnected, retrying in 3 s');
    is({ state: 'refused', why: 'scope' });
    await tui.shows('no access to events');
  });

  test('makes control characters of others visible', async () => {
    const tui = openTui({ columns: 200 });
    tui.calls.apply(finished(1, { model: 'evil\u001b[31m\u0007\u202emodel' }));
    tui.state.changed();
    await tui.shows('evil␛[31m␇<U+202E>model');
  });

  test('marks the selected row with a sign, so that colours are not needed', async () => {
    const tui = openTui({ columns: 120 });
    for (const number of [1, 2]) tui.calls.apply(finished(number));
    tui.state.changed();
    await tui.shows(/❯ .*sim\/model-2/);
    tui.type('j');
    await tui.shows(/❯ .*sim\/model-1/);
    expect(tui.frame()).not.toContain('\u001b[7m');
  });
});

describe('traffic', () => {
  test('shortens a model with an ellipsis, so that it never reads as another model', async () => {
    const tui = openTui({ columns: 80 });
    tui.calls.apply(finished(1, { model: 'anthropic/claude-haiku-4-5' }));
    tui.state.changed();
    await tui.shows(/ …\/claude-haiku-4-5 .*\$0/);
    tui.calls.apply(finished(2, { model: 'acme/sim/assistant-with-a-long-name' }));
    tui.state.changed();
    await tui.shows(/ …[^ /]*-with-a-long-name /);
    tui.resize({ columns: 220, rows: 24 });
    await tui.shows('anthropic/claude-haiku-4-5');
  });

  test('follows new requests at the top, and keeps the selection elsewhere', async () => {
    const tui = openTui();
    for (const number of [1, 2, 3]) tui.calls.apply(finished(number));
    tui.state.changed();
    tui.type('j');
    await tui.shows(/❯ .*sim\/model-2/);
    tui.calls.apply(finished(4));
    tui.state.changed();
    await tui.shows('sim/model-4');
    expect(tui.frame()).toMatch(/❯ .*sim\/model-2/);
    tui.type('<');
    await tui.shows(/❯ .*sim\/model-4/);
    tui.calls.apply(finished(5));
    tui.state.changed();
    await tui.shows(/❯ .*sim\/model-5/);
  });

  test('shows rejected requests with their reason, and how many there were', async () => {
    const tui = openTui({ columns: 200 });
    const message = 'A valid API key or login is required.';
    const rejected = {
      status: 'rejected',
      error_code: 'unauthenticated',
      message,
      provider: null,
      model: null,
    };
    tui.calls.apply({
      ...finished(1, { ...rejected, address: '10.0.0.7', more: 4311, total_ms: 1 }),
      type: 'request.rejected',
    });
    tui.state.changed();
    await tui.shows(/unauthenticated +\/v1\/responses .*10\.0\.0\.7 .*\+4,311 /);
    await tui.shows(message);
  });

  test('shows on 80 columns how many requests were rejected like one', async () => {
    const tui = openTui({ columns: 80 });
    const rejected = { status: 'rejected', error_code: 'rate_limited', message: 'Too many.', more: 57 };
    tui.calls.apply({ ...finished(1, rejected), type: 'request.rejected' });
    tui.state.changed();
    await tui.shows(/rate_limited .*\+57 more/);
  });

  test('shows tokens and cost of a running request, as far as they are known', async () => {
    const tui = openTui({ columns: 200, now: () => at + 5000 });
    const data = { request_id: 'req_1', model: 'sim/slow' };
    tui.calls.apply({ ...finished(1), type: 'request.started', data });
    const soFar = { ...data, input_tokens: 12, output_tokens: 345, cost_usd: '0.02', ttft_ms: 310 };
    tui.calls.apply({ ...finished(1), type: 'request.progress', data: soFar });
    tui.state.changed();
    await tui.shows(/running +sim\/slow .*12→345 +\$0\.02 .*5\.00 s/);
    await tui.shows(/first +310 ms/);
  });

  test('shows no line for what a running request does not have yet', async () => {
    const tui = openTui({ columns: 200, now: () => at + 5000 });
    const data = { request_id: 'req_1', model: 'sim/slow' };
    tui.calls.apply({ ...finished(1), type: 'request.started', data });
    tui.state.changed();
    await tui.shows(/status +running/);
    expect(tui.frame()).not.toMatch(/(error|reason|more like it|first|cost) +–/);
  });

  test('is paused and counts new requests', async () => {
    const tui = openTui();
    tui.calls.apply(finished(1));
    tui.type('p');
    await tui.shows('paused, 0 new');
    tui.calls.apply(finished(2));
    tui.state.changed();
    await tui.shows('paused, 1 new');
    expect(tui.frame()).not.toContain('sim/model-2');
    tui.type('p');
    await tui.shows('sim/model-2');
  });

  test('shows the end of a request while paused', async () => {
    const tui = openTui({ now: () => at + 5000 });
    const data = { request_id: 'req_1', model: 'sim/slow' };
    tui.calls.apply({ ...finished(1), type: 'request.started', data });
    tui.state.changed();
    await tui.shows(/running +sim\/slow .*5\.00 s/);
    tui.type('p');
    await tui.shows('paused, 0 new');
    tui.calls.apply(finished(1, { model: 'sim/slow' }));
    tui.state.changed();
    await tui.shows(/completed +sim\/slow .*850 ms/);
    expect(tui.frame()).toContain('paused, 0 new');
  });

  test('is filtered while the filter is typed; ! inverts, Escape clears', async () => {
    const tui = openTui();
    for (const number of [1, 2]) tui.calls.apply(finished(number));
    tui.state.changed();
    tui.type('/');
    tui.type('model-1');
    await tui.shows('1 of 2');
    expect(tui.frame()).not.toContain('sim/model-2');
    tui.type(keys.ctrlU);
    tui.type('!model-1');
    await tui.shows(/filter !model-1/);
    expect(tui.frame()).toContain('sim/model-2');
    expect(tui.frame()).not.toContain('sim/model-1 ');
    tui.type(keys.escape);
    await tui.shows('sim/model-1');
  });

  test('shows a row as JSON, and copies its ID', async () => {
    const tui = openTui();
    tui.calls.apply(finished(1));
    tui.state.changed();
    tui.type('y');
    await tui.shows('Copied req_1');
    expect(tui.copied).toEqual(['req_1']);
    tui.type('u');
    await tui.shows('"id": "req_1"');
    tui.type(keys.escape);
    await tui.shows(/❯ .*sim\/model-1/);
  });

  test('shows a notice if a page fails', async () => {
    const tui = openTui();
    tui.calls.apply(finished(1));
    tui.state.changed();
    tui.type(keys.enter);
    await tui.shows('unexpected call: GET /v1/traces/{request_id}');
    expect(tui.frame()).toContain('sim/model-1');
  });
});

const noLimits = {
  spend_cap: null,
  max_price: null,
  models: null,
  requests_per_minute: null,
  concurrency: null,
  queue_seconds: null,
  expires_at: null,
};

describe('keys', () => {
  test('are issued with a form, which can be corrected', async () => {
    const issued: TestCall[] = [];
    const tui = openTui({
      answers: {
        [keyList]: () => page([key('key_old')]),
        'POST /v1/workspaces/{workspace}/keys': (asked) => {
          issued.push(asked);
          return { key: key('key_ci'), secret: 'gwk_secret' };
        },
      },
    });
    tui.type('gk');
    await tui.shows('old');
    tui.type('cci');
    tui.type(keys.tab);
    tui.type('5/week');
    tui.type(keys.enter);
    await tui.shows('! This is not a number.');
    await tui.shows(/name +ci/);
    tui.type(keys.ctrlU);
    tui.type('5');
    tui.type(keys.enter);
    await tui.shows('gwk_secret');
    expect(issued.map(({ body }) => body)).toEqual([
      { name: 'ci', limits: { ...noLimits, spend_cap: { usd: '5', period: 'day' } } },
    ]);
    tui.type('y');
    await tui.shows('Copied gwk_secret');
    expect(tui.copied).toEqual(['gwk_secret']);
    tui.type(keys.escape);
    await tui.shows(/❯ .*old/);
    expect(JSON.stringify(tui.log.rows())).not.toContain('gwk_secret');
  });

  test('without limits are issued only after a confirmation', async () => {
    const issued: unknown[] = [];
    const tui = openTui({
      answers: {
        [keyList]: () => page([key('key_old')]),
        'POST /v1/workspaces/{workspace}/keys': ({ body }) => {
          issued.push(body);
          return { key: key('key_ci'), secret: 'gwk_secret' };
        },
      },
    });
    tui.type('gk');
    await tui.shows('old');
    // A second Enter must not confirm it.
    tui.type('cci\r');
    await tui.shows('Issue the key ci without limits?');
    tui.type('\r');
    await tui.shows(/❯ name +ci/);
    expect(issued).toEqual([]);
    tui.type('\r');
    await tui.shows('Issue the key ci without limits?');
    tui.type('y');
    await tui.shows('gwk_secret');
    expect(issued).toEqual([{ name: 'ci' }]);
  });

  test('that share a name are listed with the end of their ids', async () => {
    const tui = openTui({
      answers: { [keyList]: () => page(['key_1aaaa', 'key_2bbbb'].map((id) => key(id, { name: 'ci' }))) },
    });
    tui.type('gk');
    await tui.shows(/ci \(…aaaa\) .*\n.*ci \(…bbbb\) /);
  });

  test('that are marked are revoked together, after a confirmation with Cancel as its default', async () => {
    const revoked: unknown[] = [];
    const tui = openTui({
      answers: {
        [keyList]: () => page(['key_a', 'key_b', 'key_c'].map((id) => key(id))),
        'DELETE /v1/workspaces/{workspace}/keys/{key}': ({ params }) => revoked.push(params?.key),
      },
    });
    tui.type('gk');
    await tui.shows('❯');
    tui.type('  ');
    await tui.shows('2 marked');
    tui.type(keys.ctrlD);
    await tui.shows('Revoke 2 keys?');
    tui.type(keys.enter);
    await tui.shows(/^((?!Revoke 2).)*$/s);
    expect(revoked).toEqual([]);
    tui.type(keys.ctrlD);
    await tui.shows('Revoke 2 keys?');
    tui.type(keys.tab);
    tui.type(keys.enter);
    await tui.shows('Revoked 2 keys.');
    expect(revoked).toEqual(['key_a', 'key_b']);
  });

  test('show how much of which limit is used, also in the selected row', async () => {
    const limited = key('key_ci', {
      limits: { ...key('key_x').limits, spend_cap: { usd: '5', period: 'day' } },
    });
    const used = { spend_usd: { total: '9', day: '4.5', month: '9' }, requests_last_minute: 0 };
    const tui = openTui({
      isColoured: true,
      answers: {
        [keyList]: () => page([limited]),
        'GET /v1/workspaces/{workspace}/keys/{key}': () => ({ ...limited, used }),
      },
    });
    tui.type('gk');
    await tui.shows('\u001b[33m████████░   90 %');
    expect(tui.frame()).toMatch(/❯.*\$5 per day/);
  });

  test('that cannot be listed show the reason in place of the list', async () => {
    const tui = openTui();
    tui.type('gk');
    await tui.shows(`! unexpected call: ${keyList}`);
  });
});

test('usage is grouped by day, model and key, with bars', async () => {
  const asked: unknown[] = [];
  const sums = (group: string, usd: string) => ({
    group,
    requests: 2,
    rejected: 1,
    unpriced_requests: 0,
    tokens: { input: 10, cached_input: 0, cache_write: 0, output: 20, reasoning: 0 },
    cost: { provider_usd: usd, margin_usd: '0', total_usd: usd },
    charged_usd: usd,
  });
  const tui = openTui({
    columns: 120,
    answers: {
      'GET /v1/usage': ({ query }) => {
        asked.push(query?.group_by);
        return { data: [sums('one', '4'), sums('two', '1.0000004')], total: { charged_usd: '5.0000004' } };
      },
    },
  });
  tui.type('gu');
  await tui.shows('[by day]');
  await tui.shows('Last 30 days: 6 calls · 33.3 % rejected · $5.00 charged');
  expect(tui.lines()[0]).toContain(' · $5.00 in 30 days');
  const barOf = (name: string) =>
    tui
      .lines()
      .find((line) => line.includes(name))
      ?.match(/█/g)?.length ?? 0;
  expect(barOf('one')).toBeGreaterThan(barOf('two') * 3);
  tui.type(']');
  await tui.shows('[by model]');
  tui.type('[[');
  await tui.shows('[by key]');
  await tui.shows('one');
  expect(asked).toEqual(expect.arrayContaining(['day', 'model', 'key']));
});

describe('the log of calls', () => {
  test('shows each as curl without the key, and as a command', async () => {
    const tui = openTui({ columns: 120, answers: { [keyList]: () => page([key('key_a')]) } });
    tui.type('gk');
    await tui.shows('❯');
    tui.type('@');
    await tui.shows('gateway keys list');
    tui.type('y');
    await tui.shows('Copied');
    expect(tui.copied).toEqual([
      `curl 'http://127.0.0.1:4100/v1/workspaces/me/keys?limit=100' -H "authorization: Bearer $GATEWAY_KEY"`,
    ]);
    tui.type('Y');
    await tui.shows('Copied gateway keys list');
  });
});

describe('the palette', () => {
  test('goes to screens by alias, filters, and rejects unknown commands', async () => {
    const tui = openTui({ answers: { [keyList]: () => page([key('key_a'), key('key_b')]) } });
    tui.type(':api-keys\r');
    await tui.shows('❯ ');
    tui.type(':filter key_b\r');
    await tui.shows('1 of 2');
    tui.type(':nonsense\r');
    await tui.shows('Unknown command: nonsense.');
    tui.type(keys.escape);
    await tui.shows(/^((?!nonsense).)*$/s);
    tui.type(':q\r');
    await expect.poll(() => tui.done.quit).toBe(1);
  });

  test('issues a key with the flags of the command, and refuses what it cannot run', async () => {
    const issued: unknown[] = [];
    const tui = openTui({
      answers: {
        [keyList]: () => page([key('key_a')]),
        'POST /v1/workspaces/{workspace}/keys': ({ body }) => {
          issued.push(body);
          return { key: key('key_foo'), secret: 'gwk_secret' };
        },
      },
    });
    tui.type(':keys revoke foo\r');
    await tui.shows(/"keys revoke" cannot be run here, only ":keys issue …"\./);
    tui.type(keys.ctrlU);
    tui.type(':keys issue --nme foo\r'.slice(1));
    await tui.shows("unknown option '--nme'");
    tui.type(keys.ctrlU);
    tui.type('keys issue --name foo --scope responses --rpm 60\r');
    await tui.shows(/gwk_secret *\n *\nSave the secret now/);
    expect(issued).toEqual([{ name: 'foo', scopes: ['responses'], limits: { requests_per_minute: 60 } }]);
    tui.type(keys.escape);
    await tui.shows(/^((?!gwk_secret).)*$/s);
  });

  test('completes names', async () => {
    const tui = openTui();
    tui.type(':traf');
    await tui.shows('traffic  go to Calls');
    tui.type(keys.tab);
    await tui.shows(':traffic');
  });
});

test('the help lists only the keys of the screen', async () => {
  const tui = openTui({ rows: 60 });
  tui.type('?');
  await tui.shows('Keys of Calls');
  expect(tui.frame()).toMatch(/j +↓ +next row/);
  expect(tui.frame()).not.toContain('issue a key');
  tui.type(keys.escape);
  await tui.shows('No calls yet');
  tui.type('gk?');
  await tui.shows('issue a key');
});

test('for screen readers there is one pane, and numbers instead of charts', async () => {
  const tui = openTui({ columns: 200, isPlain: true });
  tui.calls.apply(finished(1));
  tui.state.changed();
  await tui.shows('sim/model-1');
  expect(tui.frame()).not.toMatch(/[│▁▂▃▄▅▆▇█░]|··/);
  expect(tui.frame()).toContain('none failed');
});

test('q and Ctrl-C quit, Ctrl-Z suspends', async () => {
  const tui = openTui();
  tui.type('q');
  await expect.poll(() => tui.done.quit).toBe(1);
  tui.type('\u0003');
  await expect.poll(() => tui.done.quit).toBe(2);
  tui.type('\u001a');
  await expect.poll(() => tui.done.suspended).toBe(1);
});
