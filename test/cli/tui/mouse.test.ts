import { describe, expect, test } from 'vitest';
import { pressMouse } from '../../../src/cli/tui/actions/press-mouse.ts';
import { type MouseEvent, TerminalInput } from '../../../src/cli/tui/terminal-input.ts';
import { openTui } from '../../support/open-tui.ts';

const terminal = { setRawMode: () => terminal, ref: () => terminal, unref: () => terminal } as never;

function read(chunks: readonly (string | Buffer)[]) {
  const events: MouseEvent[] = [];
  const input = new TerminalInput(terminal, (event) => events.push(event));
  for (const chunk of chunks) input.write(chunk);
  return { events, keys: (input.read() as Buffer | null)?.toString() ?? '' };
}

describe('input of a terminal', () => {
  test('is keys, without the reports of the mouse', () => {
    const { events, keys } = read([
      'a\u001b[<0;5;7Mb\u001b[<0;5;7m\u001b[<64;1;1M\u001b[A',
      'é\u001b[<65;300;200M',
    ]);
    expect(keys).toBe('ab\u001b[Aé');
    expect(events).toEqual([
      { kind: 'click', x: 4, y: 6 },
      { kind: 'wheel-up', x: 0, y: 0 },
      { kind: 'wheel-down', x: 299, y: 199 },
    ]);
  });

  test('can split a report and a character anywhere', () => {
    const bytes = Buffer.from('ü\u001b[<0;12;34Mß');
    const { events, keys } = read(
      Array.from(bytes, (byte) => Buffer.from([byte])).reduce<Buffer[]>(joinStarts, []),
    );
    expect(keys).toBe('üß');
    expect(events).toEqual([{ kind: 'click', x: 11, y: 33 }]);
  });

  test('an Escape, and what only looks like a report, are keys', () => {
    expect(read(['\u001b']).keys).toBe('\u001b');
    expect(read(['\u001b[<1;2;3Zx']).keys).toBe('\u001b[<1;2;3Zx');
    expect(read([`\u001b[<${'1'.repeat(50)}`]).keys).toBe(`\u001b[<${'1'.repeat(50)}`);
    expect(read(['\u001b[<2;1;1M\u001b[<1;1;1M']).events).toEqual([]);
  });
});

// justrach/codegraff#548, justrach/codegraff#532: an end that is lost, or comes in two pieces.
describe('a paste', () => {
  const [start, end] = ['\u001b[200~', '\u001b[201~'];
  const ctrlC = '\u0003';
  test.each([
    ['whose end is lost is ended by Ctrl-C', [`${start}text`, '\r', ctrlC], `${start}text\r${end}${ctrlC}`],
    ['whose begin comes in two pieces, too', ['\u001b[20', '0~text', ctrlC], `${start}text${end}${ctrlC}`],
    ['that has ended is not ended again', [`${start}text${end}`, ctrlC], `${start}text${end}${ctrlC}`],
    ['may end in two pieces', [`${start}text\u001b[20`, '1~', ctrlC], `${start}text${end}${ctrlC}`],
    ['may contain Ctrl-C', [`${start}a${ctrlC}b`, `c${end}`], `${start}a${ctrlC}bc${end}`],
    ['comes after another', [`${start}a${end}${start}b`, ctrlC], `${start}a${end}${start}b${end}${ctrlC}`],
    [
      'may be followed by its end after all',
      [`${start}a`, ctrlC, end, ctrlC],
      `${start}a${end}${ctrlC}${end}${ctrlC}`,
    ],
  ])('%s', (_name, chunks, keys) => {
    expect(read(chunks).keys).toBe(keys);
  });
});

/** Terminals write the three characters before a report's numbers in one piece. */
function joinStarts(chunks: Buffer[], byte: Buffer): Buffer[] {
  const last = chunks.at(-1);
  return last?.at(-1) === 27 || last?.toString() === '\u001b['
    ? [...chunks.slice(0, -1), Buffer.concat([last, byte])]
    : [...chunks, byte];
}

const at = Date.parse('2026-11-21T09:00:00Z');

const finished = (number: number, costUsd: string) => ({
  type: 'request.completed',
  sequence: number,
  created_at: new Date(at + number).toISOString(),
  data: {
    request_id: `req_${number}`,
    model: `sim/model-${number}`,
    status: 'completed',
    cost_usd: costUsd,
    input_tokens: 1,
    output_tokens: 1,
    total_ms: 10,
  },
});

function openTraffic(size: { columns: number; rows: number }) {
  const tui = openTui({ ...size, answers: { 'GET /v1/workspaces/{workspace}/keys': () => ({ data: [] }) } });
  for (const [number, cost] of ['0.5', '2', '0.1'].entries()) tui.calls.apply(finished(number, cost));
  tui.state.changed();
  /** Clicks the last line that has a text. */
  const click = (text: string) => {
    const y = tui.lines().findLastIndex((line) => line.includes(text));
    expect(y, text).toBeGreaterThanOrEqual(0);
    pressMouse(tui.state, { kind: 'click', x: tui.lines()[y]?.indexOf(text) ?? 0, y });
  };
  return { ...tui, click };
}

describe.each([
  { columns: 80, rows: 24 },
  { columns: 120, rows: 30 },
  { columns: 180, rows: 40 },
])('a click at $columns × $rows', (size) => {
  test('selects a row, and opens the selected one', async () => {
    const tui = openTraffic(size);
    await tui.shows('sim/model-0');
    tui.click('sim/model-0');
    await tui.shows(/❯ .*sim\/model-0/);
    tui.click('sim/model-0');
    await tui.shows('unexpected call: GET /v1/traces/{request_id}');
  });

  test('on a title sorts by it, and again the other way around', async () => {
    const tui = openTraffic(size);
    await tui.shows('COST');
    tui.click('COST');
    await tui.shows(/COST▼[\s\S]*model-1[\s\S]*model-0[\s\S]*model-2/);
    tui.click('COST');
    await tui.shows(/COST▲[\s\S]*model-2[\s\S]*model-0[\s\S]*model-1/);
  });

  test('on a screen, a tab or a hint does what the key does', async () => {
    const tui = openTraffic(size);
    await tui.shows('Usage');
    tui.click('Usage');
    await tui.shows(/── Usage · \[by day\]/);
    tui.click('by model');
    await tui.shows(/\[by model\]/);
    tui.click('help');
    await tui.shows('Keys of Usage');
    pressMouse(tui.state, { kind: 'wheel-down', x: 10, y: 10 });
    await tui.shows('Keys of Usage');
  });

  test('beside everything does nothing, also while a dialog waits', async () => {
    const tui = openTraffic(size);
    await tui.shows('sim/model-0');
    for (let y = 0; y < size.rows + 3; y += 1)
      pressMouse(tui.state, { kind: 'click', x: size.columns + 5, y });
    tui.type(':');
    await tui.shows(/^:/m);
    const before = tui.frame();
    tui.click('sim/model-1');
    expect(tui.frame()).toBe(before);
  });
});

test('the wheel moves the selection', async () => {
  const tui = openTraffic({ columns: 80, rows: 24 });
  await tui.shows(/❯ .*model-2/);
  pressMouse(tui.state, { kind: 'wheel-down', x: 3, y: 9 });
  await tui.shows(/❯ .*model-0/);
  pressMouse(tui.state, { kind: 'wheel-up', x: 3, y: 9 });
  await tui.shows(/❯ .*model-2/);
});

test('s sorts by one column after the other, S turns the order around, Esc ends it', async () => {
  const tui = openTraffic({ columns: 80, rows: 24 });
  await tui.shows('TIME');
  tui.type('s');
  await tui.shows('TIME▼');
  tui.type('S');
  await tui.shows('TIME▲');
  tui.type('s');
  await tui.shows('STATUS▲');
  tui.type('\u001b');
  await tui.shows(/^((?!▲).)*$/s);
});
