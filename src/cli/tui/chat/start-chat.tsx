import { render } from 'ink';
import { getThread, listThreadMessages } from '../../addresses.ts';
import { modelOf } from '../../commands/respond/request-body.ts';
import type { Context } from '../../context.ts';
import { explain } from '../../failure.ts';
import { ChatApp } from './chat-app.tsx';
import { ChatModel } from './chat-model.ts';
import { Conversation } from './conversation.ts';
import { costText } from './slash-commands.ts';

export interface ChatFlags {
  model?: string | undefined;
  thread?: string | undefined;
  instructions?: string | undefined;
}

const framesPerSecond = 12;
const messagesShown = 20;

/** Talks with a model until it is left; fails before the first line where nobody answers. */
export async function startChat(context: Context, { model, thread, instructions }: ChatFlags): Promise<void> {
  const conversation = new Conversation({ model: await modelOf(context, { model }), thread });
  conversation.system = instructions;
  const { isLocal } = context.host();
  const chat: ChatModel = new ChatModel(conversation, {
    context,
    explain(error) {
      const { sentence, details } = explain(error, { isLocal });
      return [sentence, ...details.filter(([name]) => name === 'next').map(([, text]) => text)].join(' ');
    },
    columns: () => context.io.columns(),
    quit: () => instance.unmount(),
  });
  if (thread !== undefined) await printThread(context, chat, thread);
  chat.print('note', `${conversation.model}; /help tells what else there is.`);
  const instance = render(<ChatApp chat={chat} paint={context.out.paint.stdout} />, {
    interactive: true,
    maxFps: framesPerSecond,
    exitOnCtrlC: false,
  });
  try {
    await instance.waitUntilExit();
  } finally {
    chat.answering?.controller.abort();
  }
  if (conversation.answers > 0) context.out.note(costText(chat));
}

/** What was said in the thread last, oldest first. */
async function printThread(context: Context, chat: ChatModel, id: string): Promise<void> {
  await context.client().call(getThread, { params: { id } });
  const { data } = await context
    .client()
    .call(listThreadMessages, { params: { id }, query: { limit: messagesShown } });
  const oldestFirst = data.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  for (const { role, content } of oldestFirst) {
    const said = content.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
    if (said !== '') chat.print(role === 'user' ? 'you' : 'answer', said);
  }
}
