import { describe, expect, test } from 'vitest';
import { pressKey } from '../../../src/cli/tui/actions/press-key.ts';
import { type CommandName, commands, defaultBindings, keysOf } from '../../../src/cli/tui/keys/bindings.ts';
import { recordLines } from '../../../src/cli/tui/screens/pages.ts';
import type { Page } from '../../../src/cli/tui/screens/screen.ts';
import { conversationLines } from '../../../src/cli/tui/text/conversation-lines.ts';
import { noPaint } from '../../../src/cli/tui/text/render-options.ts';
import type { Key } from '../../../src/shared/contract/keys.ts';
import { receivedError } from '../../../src/shared/faults/received-error.ts';
import { keys, openTui, type TestCall } from '../../support/open-tui.ts';

const numbered = (count: number): Page => ({
  title: 'numbers',
  lines: () => Array.from({ length: count }, (_, at) => `line ${at + 1}`),
});
const list = (data: unknown[]) => ({ object: 'list', data, has_more: false, next: null });

const finishedCall = (number: number, more: object = {}) => ({
  type: 'request.completed',
  sequence: number,
  created_at: new Date(1_800_000_000_000 + number).toISOString(),
  data: {
    request_id: `req_${number}`,
    model: `sim/model-${number}`,
    endpoint: '/v1/responses',
    status: 'completed',
    total_ms: 1,
    ...more,
  },
});

/** The TUI with three requests in its list, the second one selected. */
/** The answer to a request for content that is not kept. */
const notKept = () => {
  const error = { code: 'not_found', message: 'The content of this request is not kept.' };
  throw receivedError(404, {}, JSON.stringify({ error }));
};

function openTraffic(answers: Record<string, (call: TestCall) => unknown> = {}) {
  const tui = openTui({ answers });
  for (const number of [1, 2, 3]) tui.calls.apply(finishedCall(number));
  tui.state.view.select(1);
  tui.state.changed();
  return tui;
}

describe('while a page is open', () => {
  /** What a key must not change, as it is behind the page. */
  const listOf = ({ state: { view, pane } }: ReturnType<typeof openTui>) => ({
    pane,
    row: view.index(),
    marks: view.marks.size,
    filter: view.filter,
    isPaused: view.isPaused,
  });
  const named = (Object.keys(commands) as CommandName[]).map(
    (name) => [name, keysOf(defaultBindings, 'traffic', name)[0] ?? ''] as const,
  );

  test('no key leaves it unseen, or changes the list behind it', () => {
    const tui = openTraffic();
    const { state } = tui;
    for (const [name, key] of named) {
      state.dialog = undefined;
      state.isGoing = false;
      state.pages.clear();
      state.show(1);
      state.openPage(numbered(50), state.view.selected());
      const before = listOf(tui);
      pressKey(state, key, key);
      if (state.view.screen.id === 'traffic') expect(listOf(tui), name).toEqual(before);
      else expect(state.notice, name).toBe('Closed Calls › numbers.');
    }
  });

  test('] and [ open the next and the previous row', async () => {
    const model = (id: string) => ({
      id,
      service: { providers: [], capabilities: {}, prices: null, live: null, context_length: null },
    });
    const tui = openTui({ answers: { 'GET /v1/models': () => list([model('one'), model('two')]) } });
    tui.type('4');
    await tui.shows('two');
    tui.type('\r');
    await tui.shows('Models › one');
    tui.type(']');
    await tui.shows('Models › two');
    tui.type(']');
    await tui.shows('This is the last row.');
    tui.type('[');
    await tui.shows('Models › one');
    tui.type(']');
    await tui.shows('Models › two');
    tui.type(keys.escape);
    await tui.shows(/❯ .*two/);
  });

  test('that is about no row, there is nothing to edit or to remove', async () => {
    const tui = openTui({ answers: { 'GET /v1/workspaces/{workspace}/keys': () => list([key('key_a')]) } });
    tui.type('2');
    await tui.shows('❯ ');
    tui.type('?');
    await tui.shows('Keys of Keys');
    tui.type(keys.ctrlD);
    await tui.shows('There is nothing to revoke here.');
    tui.type('e');
    await tui.shows('No row is selected.');
  });

  test('/ searches it, n and N go on, and Esc ends the search before it closes the page', async () => {
    const tui = openTraffic();
    const page = numbered(100);
    tui.state.openPage({ ...page, lines: (options) => page.lines(options).map((line) => `${line}.`) });
    tui.type('/LINE 4');
    await tui.shows('/LINE 4 1 of 11');
    tui.type('2.');
    await tui.shows('/LINE 42. 1 of 1');
    await tui.shows(/^line 42\./m);
    tui.type(`${keys.ctrlU}4.`);
    await tui.shows('/4. 1 of 10');
    tui.type('\rn');
    await tui.shows('/4. 2 of 10');
    tui.type('NN');
    await tui.shows('/4. 10 of 10');
    await tui.shows(/^line 94\./m);
    tui.type(keys.escape);
    await tui.shows(/^((?!10 of 10).)*$/s);
    expect(tui.frame()).toMatch(/^line 94\./m);
    tui.type(keys.escape);
    await tui.shows(/❯ .*sim\/model-2/);
    expect(tui.state.view.filter).toBe('');
  });

  test('a search without a match says so, and Esc restores the page', async () => {
    const tui = openTraffic();
    tui.state.openPage(numbered(100));
    tui.type('/nowhere');
    await tui.shows('/nowhere not found');
    tui.type(keys.escape);
    await tui.shows(/^((?!nowhere).)*$/s);
    expect(tui.frame()).toMatch(/^line 1\b/m);
  });
});

function key(id: string, limits: Partial<Key['limits']> = {}): Key {
  const none = {
    spend_cap: null,
    max_price: null,
    models: null,
    requests_per_minute: null,
    concurrency: null,
    queue_seconds: null,
    expires_at: null,
  };
  const time = new Date(1_800_000_000_000).toISOString();
  return {
    id,
    name: id.slice(4),
    workspace: 'ws_1',
    owner: 'usr_1',
    status: 'active',
    scopes: ['responses'],
    models: null,
    actions: null,
    limits: { ...none, ...limits },
    defaults: { cache: null, store: null, events: null, capture: null },
    hint: 'gwk_aB3d…x9Zk',
    created_at: time,
    last_used_at: null,
    revoked_at: null,
    rotated_at: null,
    paused_at: null,
  };
}

describe('a line that is typed for a row', () => {
  test('acts on that row, though another one has taken its place', async () => {
    const sent: unknown[] = [];
    const person = (id: number, handle: string) => ({ id, handle, name: handle, avatar: '' });
    const me = person(9, 'me');
    const thread = (id: number, handle: string) => ({
      peer: person(id, handle),
      unread: 0,
      last: {
        id,
        body: `from ${handle}`,
        createdAt: '2026-11-21T09:00:00Z',
        sender: person(id, handle),
        recipient: me,
      },
    });
    let threads = [thread(1, 'ann')];
    const tui = openTui({
      answers: {
        'GET /api/whispers/threads': () => ({ data: threads }),
        'POST /api/whispers': ({ body }) => sent.push(body),
      },
    });
    tui.type('7');
    await tui.shows('❯ ann');
    tui.type('rSee you');
    await tui.shows('to ann: See you');
    threads = [thread(2, 'bob'), ...threads];
    await tui.state.reload();
    await tui.shows('❯ bob');
    tui.type('\r');
    await tui.shows('Sent to ann.');
    expect(sent).toEqual([{ recipientHandle: 'ann', body: 'See you' }]);
  });

  const limited = key('key_ci', {
    spend_cap: { usd: '5', period: 'day' },
    models: ['gpt*', 'sim/*'],
    requests_per_minute: 60,
    expires_at: '2027-01-31T00:00:00.000Z',
  });
  const openKeys = (changes: unknown[]) =>
    openTui({
      columns: 160,
      answers: {
        'GET /v1/workspaces/{workspace}/keys': () => list([limited]),
        'GET /v1/workspaces/{workspace}/keys/{key}': () => undefined,
        'PUT /v1/workspaces/{workspace}/keys/{key}/limits': ({ body }) => {
          changes.push(body);
          return { ...limited.limits, ...(body as object) };
        },
      },
    });

  test('shows the present limits of a key, and sends what was changed', async () => {
    const changes: unknown[] = [];
    const tui = openKeys(changes);
    tui.type('2');
    await tui.shows('ci ');
    tui.type('e');
    await tui.shows('limits of ci');
    await tui.shows(/models +gpt\* sim\/\*/);
    tui.type('\r');
    await tui.shows('The limits are as they were.');
    tui.type(`e${keys.ctrlU}7`);
    tui.type(keys.tab);
    tui.type(keys.tab);
    tui.type(`${keys.ctrlU}\r`);
    await tui.shows('ci: $7 per day, models gpt* sim/*, until Sun 31 Jan 2027, 00:00 UTC.');
    expect(changes).toEqual([{ spend_cap: { usd: '7', period: 'day' }, requests_per_minute: null }]);
  });

  test('that is empty removes all limits only after a confirmation', async () => {
    const changes: unknown[] = [];
    const tui = openKeys(changes);
    tui.type('2');
    await tui.shows('ci ');
    tui.type('e');
    for (let field = 0; field < 9; field += 1) tui.type(keys.ctrlU + keys.tab);
    tui.type('\r');
    await tui.shows('Remove all limits of ci?');
    tui.type('\r');
    await tui.shows('limits of ci');
    expect(changes).toEqual([]);
    tui.type('\r');
    await tui.shows('Remove all limits of ci?');
    tui.type('y');
    await tui.shows('ci: no limits.');
    expect(Object.values(changes[0] as object)).toEqual(Array(7).fill(null));
  });
});

test('keys that arrive in one read do what they do one by one', async () => {
  const tui = openTui();
  const textAfter = async (reads: readonly string[]) => {
    tui.type('c');
    await tui.shows('ask: ');
    for (const read of reads) tui.type(read);
    const { dialog } = tui.state;
    const text = dialog?.kind === 'line' ? dialog.edit.text : undefined;
    tui.type(keys.escape);
    await tui.shows(/^((?!ask: ).)*$/s);
    return text;
  };
  for (const letter of 'abdefhktuwy') {
    const control = String.fromCharCode(letter.charCodeAt(0) - 96);
    const typed = ['one two', control, 'three', control, ' four'];
    expect(await textAfter([typed.join('')]), `Ctrl-${letter}`).toBe(await textAfter(typed));
  }
});

test.each([30, 44, 80, 200])('the reason of a rejection is not cut in details of %i columns', (width) => {
  const word = 'x'.repeat(150);
  const reason = `The model "${word}" does not exist. Similar models: ${'acme/model-7, '.repeat(20)}acme/last.`;
  const columns = [
    { title: 'request_id', value: () => 'req_1' },
    { title: 'reason', value: () => reason },
  ];
  const lines = recordLines({}, columns, { width, paint: noPaint, isPlain: false, now: 0 });
  expect(lines.filter((line) => line.length > width)).toEqual([]);
  const letters = (text: string) => text.replace(/\s/g, '');
  expect(letters(lines.join(''))).toContain(letters(reason));
});

describe('a conversation', () => {
  const passages = [
    { role: 'system', text: Array.from({ length: 200 }, (_, at) => `Rule ${at + 1}.`).join('\n') },
    { role: 'user', text: 'First question' },
    { role: 'assistant', text: 'First answer' },
    { role: 'user', text: 'Last question' },
    { role: 'tool', text: '[result 1]' },
    { role: 'assistant', text: 'Last answer' },
  ];

  test('folds a long system prompt, and knows where the last turn begins', () => {
    const { lines, lastTurn, hasFolds } = conversationLines(passages, { width: 80, paint: noPaint });
    expect(hasFolds).toBe(true);
    expect(lines.slice(0, 7)).toEqual([
      'system',
      'Rule 1.',
      'Rule 2.',
      'Rule 3.',
      '[197 more lines, folded]',
      '',
      'user',
    ]);
    expect(lines.slice(lastTurn, lastTurn + 2)).toEqual(['user', 'Last question']);
    const unfolded = conversationLines(passages, { width: 80, paint: noPaint, isUnfolded: true });
    expect(unfolded.lines).toContain('Rule 200.');
    expect(unfolded.lines[unfolded.lastTurn + 1]).toBe('Last question');
  });

  test.each([
    ['no question', [{ role: 'assistant', text: 'Hello' }], 0],
    [
      'several questions in a row',
      [...passages.slice(1, 3), ...[1, 2].map((n) => ({ role: 'user', text: `${n}` }))],
      6,
    ],
    ['nothing', [], 0],
  ])('with %s has a last turn', (_case, some, line) => {
    expect(conversationLines(some, { width: 80, paint: noPaint }).lastTurn).toBe(line);
  });

  test('opens at its last turn; Enter shows the whole system prompt, and the search finds what is folded', async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `Line ${at + 1} of the question.`).join('\n');
    const message = (role: string, text: string) => ({
      type: 'message',
      role,
      content: [{ type: 'input_text', text }],
    });
    const tui = openTraffic({
      'GET /v1/traces/{request_id}': () => trace,
      'GET /v1/traces/{request_id}/content': notKept,
      'GET /v1/responses/{id}': () => ({
        id: 'resp_1',
        instructions: passages[0]?.text,
        output: [message('assistant', 'Done.')],
      }),
      'GET /v1/responses/{id}/input_items': () =>
        list([message('user', 'Before'), message('assistant', 'Yes'), message('user', `Now?\n${lines}`)]),
    });
    tui.type('\r');
    await tui.shows('[Timeline]');
    tui.type(']');
    await tui.shows(/… \d+ lines above *\nuser *\nNow\? *\n/);
    tui.type('\r');
    await tui.shows(/^system *\nRule 1\. *\nRule 2\./m);
    expect(tui.frame()).toContain('Enter fold');
    tui.type('\r');
    await tui.shows('[197 more lines, folded]');
    tui.type('/rule 150.');
    await tui.shows('/rule 150. 1 of 1');
    await tui.shows(/^Rule 150\./m);
  });

  const trace = {
    request_id: 'req_2',
    response_id: 'resp_1',
    created_at: '2026-11-21T09:00:00Z',
    completed_at: '2026-11-21T09:00:01Z',
    endpoint: '/v1/responses',
    model: 'sim/model-2',
    provider: 'simulator',
    key: null,
    streamed: false,
    status: 'completed',
    error_code: null,
    rejection: null,
    finish_reason: 'stop',
    timings: { admitted_ms: 1, held_ms: 1, first_token_ms: 1, total_ms: 2, settled_ms: null },
    attempts: [],
    routes: null,
    tokens: { input: 1, cached_input: 0, cache_write: 0, output: 1, reasoning: 0 },
    tokens_reported: true,
    cost: null,
    charged_usd: '0',
    own_key: false,
    dropped: [],
  };
});
