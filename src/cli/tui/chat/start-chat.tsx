import { render } from 'ink';
import { chooseModel } from '../../commands/respond/choose-model.ts';
import { textOf } from '../../commands/threads.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../../hosts/pages.ts';
import { getThread, listThreadMessages } from '../../manifest/endpoints.ts';
import { formatFailure } from '../format-failure.ts';
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
const messagesMax = 1000;

/** Chats with a model until the user quits. Fails before the first prompt if the daemon does not answer. */
export async function startChat(context: Context, { model, thread, instructions }: ChatFlags): Promise<void> {
  const chosen = await chooseModel(context, { model });
  const conversation = new Conversation({ model: chosen.model, thread });
  conversation.system = instructions;
  const host = context.host();
  const chat: ChatModel = new ChatModel(conversation, {
    context,
    explain: (error) => formatFailure(error, { isLocal: host.isLocal, commands: context.commands }),
    columns: () => context.io.columns(),
    quit() {
      chat.isQuitting = true;
      chat.changed();
    },
  });
  if (thread !== undefined) await printThread(context, chat, thread);
  if (chosen.hint !== undefined) chat.print('note', chosen.hint);
  chat.print('note', `${conversation.model}; /help shows the commands.`);
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
  if (conversation.answers > 0) context.out.note(costText(chat.conversation));
}

/** Prints the last messages of the thread, oldest first. */
async function printThread(context: Context, chat: ChatModel, id: string): Promise<void> {
  await context.client().call(getThread, { params: { id } });
  const messages = await collectPages(messagesMax, (query) =>
    context.client().call(listThreadMessages, { params: { id }, query }),
  );
  const left = messages.length - messagesShown;
  if (left > 0) chat.print('note', `${left} earlier messages; run: gateway threads show ${id}`);
  for (const message of messages.slice(-messagesShown)) {
    const text = textOf(message);
    if (text !== '') chat.print(message.role === 'user' ? 'you' : 'answer', text);
  }
}
