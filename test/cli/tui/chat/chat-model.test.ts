import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Context } from '../../../../src/cli/context.ts';
import { PlainText } from '../../../../src/cli/output/answer-text/plain-text.ts';
import { ChatModel } from '../../../../src/cli/tui/chat/chat-model.ts';
import { Conversation } from '../../../../src/cli/tui/chat/conversation.ts';
import { temporaryHome } from '../../../support/run-cli.ts';

/** A chat with a model that answers `Fine.` and stores its answers, and what it was asked. */
async function openChat({ failures = 0 } = {}) {
  let left = failures;
  const asked: { input: { content: unknown }[] }[] = [];
  const response = { id: 'resp_1', model: 'sim/echo', status: 'completed', store: true, output: [] };
  async function* stream(_endpoint: unknown, { body }: { body: (typeof asked)[number] }) {
    asked.push(body);
    if (left > 0) {
      left -= 1;
      throw new Error('broken');
    }
    yield { data: JSON.stringify({ type: 'response.output_text.delta', delta: 'Fine.' }) };
    yield { data: JSON.stringify({ type: 'response.completed', response }) };
  }
  const home = await temporaryHome();
  const context: Partial<Context> = {
    home,
    now: () => 0,
    client: () => ({ stream }) as unknown as ReturnType<Context['client']>,
    forgetHost: () => {},
  };
  const chat = new ChatModel(new Conversation({ model: 'sim/echo', thread: undefined }), {
    context: context as Context,
    answerText: () => new PlainText(),
    prompts: [],
    onPrompt: () => {},
    onStored: () => {},
    explain: String,
    columns: () => 80,
    quit: () => {},
  });
  return { chat, asked, home };
}

test('attached files are sent with the next question, and not with those after it', async () => {
  const { chat, asked, home } = await openChat();
  await writeFile(join(home, 'notes.txt'), 'Buy milk.');
  chat.paste(`/attach ${join(home, 'notes.txt')}`);
  chat.press('enter', '');
  await expect.poll(() => JSON.stringify(chat.transcript())).toContain('Attached notes.txt');
  for (const text of ['What is this?', 'Sure?']) await chat.send(text);
  const file = { type: 'input_text', text: 'notes.txt:\n\nBuy milk.' };
  expect(asked.map(({ input }) => input.map(({ content }) => content))).toEqual([
    [[{ type: 'input_text', text: 'What is this?' }, file]],
    ['Sure?'],
  ]);
});

test('files of a question that failed are sent when it is asked again', async () => {
  const { chat, asked, home } = await openChat({ failures: 2 });
  await writeFile(join(home, 'notes.txt'), 'Buy milk.');
  chat.paste(`/attach ${join(home, 'notes.txt')}`);
  chat.press('enter', '');
  await expect.poll(() => JSON.stringify(chat.transcript())).toContain('Attached notes.txt');
  await chat.send('What is this?');
  expect(chat.edit.text).toBe('What is this?');
  await chat.send('Something else.');
  expect(asked.at(-1)?.input.at(-1)?.content).toBe('Something else.');
  await chat.send('What is this?');
  expect(JSON.stringify(asked.at(-1))).toContain('Buy milk.');
  await chat.send('And now?');
  expect(asked.at(-1)?.input).toEqual([expect.objectContaining({ content: 'And now?' })]);
});

test('a new conversation has none of the files that waited', async () => {
  const { chat, asked, home } = await openChat();
  await writeFile(join(home, 'notes.txt'), 'Buy milk.');
  for (const line of [`/attach ${join(home, 'notes.txt')}`, '/clear']) {
    chat.paste(line);
    chat.press('enter', '');
    await expect.poll(() => chat.edit.text).toBe('');
  }
  await expect.poll(() => JSON.stringify(chat.transcript())).toContain('Started a new conversation.');
  await chat.send('What is this?');
  expect(JSON.stringify(asked)).not.toContain('Buy milk.');
});

test('a path, a comment and what follows a blank are questions, and an unknown command returns to the prompt', async () => {
  const { chat, asked } = await openChat();
  for (const text of ['/etc/hosts?', '// why', ' /help']) {
    chat.paste(text);
    chat.press('enter', '');
    await expect.poll(() => chat.answering).toBeUndefined();
  }
  expect(asked.map(({ input }) => input.at(-1)?.content)).toEqual(['/etc/hosts?', '// why', ' /help']);
  chat.paste('/hepl me');
  chat.press('enter', '');
  await expect.poll(() => chat.edit.text).toBe('/hepl me');
});
