import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/shared/errors.ts';
import { keys, openTui } from '../../support/open-tui.ts';

const shiftTab = '\u001b[Z';
const right = '\u001b[C';
const list = (data: unknown[]) => ({ object: 'list', data, has_more: false, next: null });

const budget = {
  id: 'team',
  object: 'budget',
  scope: 'tag',
  value: 'team=search',
  usd: '5',
  period: 'week',
  hard: true,
  thresholds: [50, 90],
  spent_usd: '4.5',
  held_usd: '0',
  remaining_usd: '0.5',
  forecast_usd: null,
  reached_at: null,
  period_start: null,
  resets_at: null,
  fired: [],
  refused_at: null,
  created_at: '2026-11-21T09:00:00Z',
  updated_at: '2026-11-21T09:00:00Z',
};

describe('budgets', () => {
  const open = (put: (body: unknown) => unknown, size = {}) =>
    openTui({
      screen: 'budgets',
      ...size,
      answers: {
        'GET /v1/workspaces/{workspace}/budgets': () => list([budget]),
        'PUT /v1/workspaces/{workspace}/budgets/{id}': ({ body }) => put(body),
      },
    });

  test.each([5, 6, 8, 24])('show the field that has the focus in %i rows', async (rows) => {
    const tui = open(() => budget, { rows });
    tui.type('c');
    await tui.shows('set a budget');
    const focused = () => /set a budget.*❯ (.*?) {2}/s.exec(tui.frame())?.[1];
    const seen = new Set([focused()]);
    for (let times = 0; times < 3; times += 1) {
      tui.type('\t');
      await expect.poll(() => seen.has(focused())).toBe(false);
      seen.add(focused());
    }
    expect(seen).not.toContain(undefined);
  });

  test('are set with a form, which asks for what the scope needs', async () => {
    const sent: unknown[] = [];
    const tui = open((body) => {
      sent.push(body);
      return { ...budget, ...(body as object) };
    });
    tui.type('c');
    await tui.shows('set a budget');
    expect(tui.frame()).not.toContain('which one');
    tui.type(`ann\t1,500\t${right}\t${right}${right}`);
    await tui.shows('which one');
    tui.type(`\tann@example.org\t${right}\r`);
    await tui.shows('ann: $1,500 per week. This applies from the next call.');
    expect(sent).toEqual([
      {
        usd: '1500',
        period: 'week',
        scope: 'user',
        value: 'ann@example.org',
        hard: true,
        thresholds: [50, 80, 100],
      },
    ]);
  });

  test('show the present settings, and the error of the daemon at its field', async () => {
    const tui = open(() => {
      throw new ApiError('invalid_request', { param: 'value', message: '`value` must be a tag.' });
    });
    await tui.state.reload();
    await tui.shows('❯ team');
    tui.type('e');
    await tui.shows('budget team');
    await tui.shows('team=search');
    await tui.shows('[reject calls]');
    tui.type(`${keys.ctrlU}7\r`);
    await tui.shows('! This must be a tag.');
    await tui.shows(/❯ which one/);
    await tui.shows(/amount, \$ +7/);
  });

  test('stay in the form until the user agrees to discard them', async () => {
    const tui = open(() => budget);
    tui.type('c');
    await tui.shows('set a budget');
    tui.type(keys.escape);
    await expect.poll(() => tui.state.dialog).toBeUndefined();
    tui.type('cteam-a');
    tui.type(keys.escape);
    await tui.shows('Discard what you typed?');
    tui.type(keys.escape);
    await tui.shows(/❯ name +team-a/);
    tui.type(keys.escape);
    await tui.shows('Discard what you typed?');
    tui.type('y');
    await expect.poll(() => tui.state.dialog).toBeUndefined();
  });

  test('scroll in a form that is higher than the terminal', async () => {
    const tui = open(() => budget, { columns: 46, rows: 10 });
    tui.type('c');
    await tui.shows(/❯ name/);
    tui.type(shiftTab);
    await tui.shows(/❯ days begin at/);
    expect(tui.lines().length).toBeLessThanOrEqual(10);
  });
});

test('a provider key is neither shown while it is typed nor kept by the program', async () => {
  const sent: unknown[] = [];
  const secret = 'sk-0123456789-0123456789';
  const tui = openTui({
    screen: 'providers',
    columns: 120,
    answers: {
      'GET /v1/status': () => {
        throw new Error('no status');
      },
      'PUT /v1/workspaces/{workspace}/provider-keys/{provider}': ({ body, params }) => {
        sent.push(body, params?.provider);
        return { provider: 'anthropic', fingerprint: '0123456789ab', added_at: '', updated_at: '' };
      },
      'POST /v1/workspaces/{workspace}/provider-keys/{provider}/check': () => ({
        provider: 'anthropic',
        result: 'good',
        message: 'The provider accepts the key.',
      }),
    },
  });
  tui.type(`c${right}\t${secret}`);
  await tui.shows('•'.repeat(secret.length));
  expect(tui.frame()).not.toContain('sk-0');
  tui.type('\r');
  await tui.shows('The provider accepts the key.');
  expect(sent).toEqual([{ key: secret }, 'anthropic']);
  tui.type('@');
  await tui.shows(/POST +.v1.workspaces/);
  expect(JSON.stringify(tui.log.rows())).not.toContain(secret);
});
