import { appendFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/output/width.ts';
import {
  attachedFile,
  mentionedFiles,
  pathSuggestions,
} from '../../../../src/cli/tui/chat/attached-files.ts';
import {
  addToHistory,
  keepLastConversation,
  lastConversation,
  readHistory,
} from '../../../../src/cli/tui/chat/chat-files.ts';
import { Conversation } from '../../../../src/cli/tui/chat/conversation.ts';
import { History, promptLines } from '../../../../src/cli/tui/chat/prompt.ts';
import { Transcript } from '../../../../src/cli/tui/chat/transcript.ts';
import { editOf, lineDown, lineUp } from '../../../../src/cli/tui/text/line-edit.ts';
import { runCli, temporaryHome } from '../../../support/run-cli.ts';
import { fakeDaemon } from '../../fake-daemon.ts';

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

test('tabs and wide characters of the prompt take the cells that the terminal gives them', () => {
  const shown = (text: string) => promptLines(editOf(text), { width: 12, linesMax: 5 });
  expect(shown('a\tb')).toEqual({ lines: ['› a  b'], x: 6, y: 0 });
  expect(shown('漢字漢字x')).toEqual({ lines: ['› 漢字漢字x'], x: 11, y: 0 });
  expect(shown('漢字漢字漢x')).toEqual({ lines: ['› 漢字漢字', '  漢x'], x: 5, y: 1 });
  expect(shown('👩‍👩‍👧e\u0301')).toMatchObject({ x: 5, y: 0 });
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

test('the history is kept in a private file, bounded, without prompts that start with a blank', async () => {
  const home = await temporaryHome();
  const environment = { env: { GATEWAY_HOME: home }, platform: process.platform, home };
  expect(readHistory(environment)).toEqual([]);
  for (const text of ['first', ' secret', 'two\nlines', 'x'.repeat(10_001)]) addToHistory(environment, text);
  expect(readHistory(environment)).toEqual(['first', 'two\nlines']);
  const file = join(home, 'chat-history');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await appendFile(file, '"cut o');
  expect(readHistory(environment)).toEqual(['first', 'two\nlines']);
  await writeFile(file, Array.from({ length: 1001 }, (_, at) => `"${at}"\n`).join(''));
  expect(readHistory(environment)).toHaveLength(500);
  expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(501);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const history = new History(readHistory(environment));
  expect(history.go(-1, editOf(''))?.text).toBe('1000');
});

test('the last conversation is kept for each host', async () => {
  const home = await temporaryHome();
  const environment = { env: { GATEWAY_HOME: home }, platform: process.platform, home };
  expect(lastConversation(environment, 'local')).toBeUndefined();
  keepLastConversation(environment, 'local', 'resp_1');
  keepLastConversation(environment, 'https://far.example', 'resp_2');
  keepLastConversation(environment, 'local', 'resp_3');
  expect(lastConversation(environment, 'local')).toBe('resp_3');
  expect(lastConversation(environment, 'https://far.example')).toBe('resp_2');
  await writeFile(join(home, 'chat-last.json'), 'broken');
  expect(lastConversation(environment, 'local')).toBeUndefined();
});

test('files are found in a prompt and completed; other words with @ stay text', async () => {
  const home = await temporaryHome();
  await writeFile(join(home, 'notes.md'), '# Notes');
  await writeFile(join(home, 'my notes.md'), 'Mine.');
  await mkdir(join(home, 'nested'));
  const names = (text: string) => mentionedFiles(text, home).map(({ name }) => name);
  expect(names('Compare @~/notes.md with @"~/my notes.md", please.')).toEqual(['notes.md', 'my notes.md']);
  expect(names('See @~/notes.md. Or (@~/notes.md)')).toEqual(['notes.md']);
  expect(names('Ask @ann at ann@~/notes.md about @types/node and @/components')).toEqual([]);
  expect(() => names('See @~/nothing.md.')).toThrow('nothing.md does not exist.');
  expect(() => names('See @"no such file"')).toThrow('no such file does not exist.');
  expect(() => names('See @~/nested')).toThrow('nested is a folder.');
  const lines = (text: string) => pathSuggestions(text, home).map(({ line }) => line);
  expect(lines('Compare @~/no')).toEqual(['Compare @~/notes.md']);
  expect(lines('Compare @~/my')).toEqual(['Compare @"~/my notes.md"']);
  expect(lines('/attach ~/ne')).toEqual(['/attach ~/nested/']);
  expect(lines('Compare ann@~/no')).toEqual([]);
  expect(attachedFile('"~/my notes.md"', home)).toMatchObject([{ part: { text: 'my notes.md:\n\nMine.' } }]);
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
  talk.turns.push({ role: 'user', text: 'one' }, { role: 'assistant', text: 'two', model: 'sim/echo' });
  talk.system = 'Be short.';
  expect(talk.body({ text: 'three' })).toEqual({
    model: 'm',
    instructions: 'Be short.',
    input: [
      { type: 'message', role: 'user', content: 'one' },
      { type: 'message', role: 'assistant', content: 'two' },
      { type: 'message', role: 'user', content: 'three' },
    ],
  });
  talk.model = 'another';
  expect(talk.markdown()).toBe('**System**\n\nBe short.\n\n**You**\n\none\n\n**sim/echo**\n\ntwo\n');
  const kept = new Conversation({ model: 'm', thread: 'th_1' });
  kept.turns.push(...talk.turns);
  expect(kept.body({ text: 'three' })).toEqual({
    model: 'm',
    input: [{ type: 'message', role: 'user', content: 'three' }],
    service: { thread: 'th_1' },
  });
});

test('a stored conversation is continued, and its files are sent once', () => {
  const talk = new Conversation({ model: 'm', thread: undefined });
  const picture = { type: 'input_image', image_url: 'data:image/png;base64,AA==' } as const;
  const question = { text: 'What is this?', parts: [picture] };
  const message = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'What is this?' }, picture],
  };
  expect(talk.body(question)).toEqual({ model: 'm', input: [message] });
  talk.turns.push({ role: 'user', ...question }, { role: 'assistant', text: 'A cat.' });
  talk.stored = 'resp_1';
  const next = { type: 'message', role: 'user', content: 'Sure?' };
  expect(talk.body({ text: 'Sure?' })).toEqual({
    model: 'm',
    input: [next],
    previous_response_id: 'resp_1',
  });
  talk.stored = undefined;
  expect(talk.body({ text: 'Sure?' }).input).toEqual([
    message,
    { type: 'message', role: 'assistant', content: 'A cat.' },
    next,
  ]);
  talk.clear();
  expect(talk.body({ text: 'Sure?' }).input).toEqual([next]);
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
