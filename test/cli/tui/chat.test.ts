import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf } from '../../../src/cli/output/width.ts';
import { Conversation } from '../../../src/cli/tui/chat/conversation.ts';
import { History } from '../../../src/cli/tui/chat/history.ts';
import { inputLines } from '../../../src/cli/tui/chat/input-lines.ts';
import { LineFeed } from '../../../src/cli/tui/chat/line-feed.ts';
import { Printer } from '../../../src/cli/tui/chat/printer.ts';
import { editOf, lineDown, lineUp } from '../../../src/cli/tui/text/line-edit.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

test('text that comes in pieces is printed whole, in lines that fit', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '漢') }));
  fc.assert(
    fc.property(pieces, fc.integer({ min: 2, max: 20 }), (texts, width) => {
      const feed = new LineFeed();
      const lines = texts.flatMap((text) => feed.push(text, width));
      expect(widthOf(feed.rest)).toBeLessThanOrEqual(width);
      const all = [...lines, ...feed.end()];
      for (const line of all) expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(all.join('').replaceAll(' ', '')).toBe(texts.join('').replace(/[ \n]/g, ''));
    }),
  );
});

test('nothing in an answer steers the terminal', () => {
  expect(new LineFeed().push('a\u001b[2Jb\n', 20)).toEqual(['a␛[2Jb']);
});

test('what is written is broken at the width, with the cursor in its place', () => {
  expect(inputLines(editOf('one\ntwo'), { width: 20, linesMax: 5 })).toEqual({
    lines: ['› one', '  two'],
    x: 5,
    y: 1,
  });
  const long = inputLines(editOf('x'.repeat(40)), { width: 12, linesMax: 3 });
  expect(long.lines).toHaveLength(3);
  expect(long.y).toBe(2);
});

test('more lines than there is room for are told by signs', () => {
  const text = ['one', 'two', 'three', 'four'].join('\n');
  const limits = { width: 20, linesMax: 2 };
  expect(inputLines(editOf(text), limits).lines).toEqual(['↑ three', '  four']);
  expect(inputLines({ ...editOf(text), cursor: 0 }, limits).lines).toEqual(['› one', '↓ two']);
});

test('a draft is kept while what was written before is looked at', () => {
  const history = new History();
  for (const text of ['first', 'second', 'second']) history.add(text);
  const draft = editOf('a draft');
  const second = history.go(-1, draft);
  expect(second?.text).toBe('second');
  expect(history.go(-1, editOf('second'))?.text).toBe('first');
  expect(history.go(-1, editOf('first'))).toBeUndefined();
  expect(history.go(1, editOf('first'))?.text).toBe('second');
  expect(history.go(1, editOf('second'))).toBe(draft);
  expect(history.go(1, draft)).toBeUndefined();
});

test('arrows move between the lines of a text before they leave it', () => {
  const text = 'first line\nsecond';
  const end = editOf(text);
  expect(lineUp(end)?.cursor).toBe('second'.length);
  expect(lineUp({ ...end, cursor: 3 })).toBeUndefined();
  expect(lineDown({ ...end, cursor: 9 })?.cursor).toBe(text.length);
  expect(lineDown(end)).toBeUndefined();
});

test('what one says stands apart, and only its first line has a sign', () => {
  const printer = new Printer();
  printer.print('you', ['one', 'two'], { isApart: true });
  printer.print('answer', ['three'], { isApart: true });
  printer.print('answer', ['four'], { isApart: false });
  const lines = printer.lines();
  expect(lines.map(({ text, isFirst }) => (isFirst ? `> ${text}` : text))).toEqual([
    '> one',
    'two',
    '',
    '> three',
    'four',
  ]);
  expect(printer.lines()).toBe(lines);
});

test('pictures of several characters are as wide as terminals draw them', () => {
  expect(['👩‍👩‍👧', '👍🏽', '🇮🇹', '❤️', 'é', '漢'].map(widthOf)).toEqual([2, 2, 2, 2, 1, 2]);
});

test('all that was said is sent again, or only what is new where a thread keeps it', () => {
  const talk = new Conversation({ model: 'm', thread: undefined });
  talk.turns.push({ role: 'user', text: 'one' }, { role: 'assistant', text: 'two' });
  talk.system = 'Be short.';
  expect(talk.body('three')).toEqual({
    model: 'm',
    instructions: 'Be short.',
    input: [
      { type: 'message', role: 'user', content: 'one' },
      { type: 'message', role: 'assistant', content: 'two' },
      { type: 'message', role: 'user', content: 'three' },
    ],
  });
  const kept = new Conversation({ model: 'm', thread: 'th_1' });
  kept.turns.push(...talk.turns);
  expect(kept.body('three')).toEqual({
    model: 'm',
    input: [{ type: 'message', role: 'user', content: 'three' }],
    service: { thread: 'th_1' },
  });
});

test('costs add up to the last nano-dollar, and unknown ones are in no sum', () => {
  const talk = new Conversation({ model: 'm', thread: undefined });
  for (const costUsd of ['0.1', '0.2', '0.000000001', null]) talk.count({ input: 1, output: 2, costUsd });
  expect(talk.costUsd()).toBe('0.300000001');
  expect(talk.unpriced).toBe(1);
});

test.each(['chat', 'tui'])('%s without a terminal says what to use instead', async (command) => {
  const { env } = await fakeDaemon({});
  const { code, stderr } = await runCli([command], { env });
  expect(code).toBe(2);
  expect(stderr).toMatch(/needs a terminal.*gateway (respond|tail)/s);
});
