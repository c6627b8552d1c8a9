import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf } from '../../../src/cli/output/width.ts';
import { Conversation } from '../../../src/cli/tui/chat/conversation.ts';
import { inputLines } from '../../../src/cli/tui/chat/input-lines.ts';
import { LineFeed } from '../../../src/cli/tui/chat/line-feed.ts';
import { editOf } from '../../../src/cli/tui/text/line-edit.ts';
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
