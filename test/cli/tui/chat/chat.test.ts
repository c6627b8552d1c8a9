import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/output/width.ts';
import { Conversation } from '../../../../src/cli/tui/chat/conversation.ts';
import { History, promptLines } from '../../../../src/cli/tui/chat/prompt.ts';
import { LineBuffer, Transcript } from '../../../../src/cli/tui/chat/transcript.ts';
import { editOf, lineDown, lineUp } from '../../../../src/cli/tui/text/line-edit.ts';
import { runCli } from '../../../support/run-cli.ts';
import { fakeDaemon } from '../../fake-daemon.ts';

test('streamed text is printed completely, in lines that fit', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '漢') }));
  fc.assert(
    fc.property(pieces, fc.integer({ min: 2, max: 20 }), (texts, width) => {
      const buffer = new LineBuffer();
      const lines = texts.flatMap((text) => buffer.push(text, width));
      expect(widthOf(buffer.rest)).toBeLessThanOrEqual(width);
      const all = [...lines, ...buffer.end()];
      for (const line of all) expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(all.join('').replaceAll(' ', '')).toBe(texts.join('').replace(/[ \n]/g, ''));
    }),
  );
});

test('control characters in an answer are made visible', () => {
  expect(new LineBuffer().push('a\u001b[2Jb\n', 20)).toEqual(['a␛[2Jb']);
});

test('the prompt wraps at the width, with the cursor at its position', () => {
  expect(promptLines(editOf('one\ntwo'), { width: 20, linesMax: 5 })).toEqual({
    lines: ['› one', '  two'],
    x: 5,
    y: 1,
  });
  const long = promptLines(editOf('x'.repeat(40)), { width: 12, linesMax: 3 });
  expect(long.lines).toHaveLength(3);
  expect(long.y).toBe(2);
});

test('arrows show that the prompt has more lines', () => {
  const text = ['one', 'two', 'three', 'four'].join('\n');
  const limits = { width: 20, linesMax: 2 };
  expect(promptLines(editOf(text), limits).lines).toEqual(['↑ three', '  four']);
  expect(promptLines({ ...editOf(text), cursor: 0 }, limits).lines).toEqual(['› one', '↓ two']);
});

test('the history keeps the draft', () => {
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

test('arrows move between lines before they leave the text', () => {
  const text = 'first line\nsecond';
  const end = editOf(text);
  expect(lineUp(end)?.cursor).toBe('second'.length);
  expect(lineUp({ ...end, cursor: 3 })).toBeUndefined();
  expect(lineDown({ ...end, cursor: 9 })?.cursor).toBe(text.length);
  expect(lineDown(end)).toBeUndefined();
});

test('messages are separated, and only their first line has a sign', () => {
  const transcript = new Transcript();
  transcript.append('you', ['one', 'two'], { isApart: true });
  transcript.append('answer', ['three'], { isApart: true });
  transcript.append('answer', ['four'], { isApart: false });
  const lines = transcript.lines();
  expect(lines.map(({ text, isFirst }) => (isFirst ? `> ${text}` : text))).toEqual([
    '> one',
    'two',
    '',
    '> three',
    'four',
  ]);
  expect(transcript.lines()).toBe(lines);
});

test('emoji sequences have the width that terminals draw', () => {
  expect(['👩‍👩‍👧', '👍🏽', '🇮🇹', '❤️', 'é', '漢'].map(widthOf)).toEqual([2, 2, 2, 2, 1, 2]);
});

test('the whole conversation is sent, or only the new message with a thread', () => {
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

test('costs add up to the nano-dollar, without unknown prices', () => {
  const talk = new Conversation({ model: 'm', thread: undefined });
  for (const costUsd of ['0.1', '0.2', '0.000000001', null]) talk.count({ input: 1, output: 2, costUsd });
  expect(talk.costUsd()).toBe('0.300000001');
  expect(talk.unpriced).toBe(1);
});

test.each(['chat', 'tui'])('%s without a terminal suggests another command', async (command) => {
  const { env } = await fakeDaemon({});
  const { code, stderr } = await runCli([command], { env });
  expect(code).toBe(2);
  expect(stderr).toMatch(/needs a terminal.*gateway (respond|tail)/s);
});
