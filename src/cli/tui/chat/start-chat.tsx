import { getThread, listThreadMessages } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { chooseModel } from '../../commands/respond/choose-model.ts';
import { textOf } from '../../commands/threads.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { localName } from '../../hosts/host-file.ts';
import type { Host } from '../../hosts/hosts.ts';
import { collectPages } from '../../hosts/pages.ts';
import { MarkdownText } from '../../output/answer-text/markdown-text.ts';
import { PlainText } from '../../output/answer-text/plain-text.ts';
import { keepTypedAhead } from '../../terminal/typed-ahead.ts';
import { formatFailure } from '../format-failure.ts';
import { render } from '../render.ts';
import { TerminalInput } from '../terminal-input.ts';
import { ChatApp } from './chat-app.tsx';
import { addToHistory, keepLastConversation, lastConversation, readHistory } from './chat-files.ts';
import { ChatModel } from './chat-model.ts';
import { Conversation } from './conversation.ts';
import { type EarlierConversation, readConversation } from './earlier-conversation.ts';
import { costText } from './slash-commands.ts';

export interface ChatFlags {
  model?: string | undefined;
  thread?: string | undefined;
  instructions?: string | undefined;
  /** A response to continue after; true: the last conversation. */
  continue?: string | true | undefined;
  /** False after `--no-markdown`. */
  markdown?: boolean | undefined;
  /** False after `--no-history`. */
  history?: boolean | undefined;
}

const framesPerSecond = 12;
const messagesShown = 20;
const messagesMax = 1000;

/** Chats with a model until the user quits. Fails before the first prompt if the daemon does not answer. */
export async function startChat(context: Context, flags: ChatFlags): Promise<void> {
  const { thread, instructions } = flags;
  const host = context.host();
  const earlier = await earlierOf(context, flags);
  const chosen =
    earlier && flags.model === undefined && !context.env.GATEWAY_MODEL
      ? { model: earlier.model, hint: undefined }
      : await chooseModel(context, flags);
  const conversation = new Conversation({ model: chosen.model, thread });
  conversation.system = instructions ?? earlier?.system;
  conversation.turns = [...(earlier?.turns ?? [])];
  conversation.stored = earlier?.response;
  const paint = context.out.paint.stdout;
  const keepsHistory = flags.history !== false;
  const chat: ChatModel = new ChatModel(conversation, {
    context,
    answerText: () => (flags.markdown === false ? new PlainText() : new MarkdownText(paint)),
    prompts: keepsHistory ? readHistory(context) : [],
    onPrompt: (text) => {
      if (keepsHistory) addToHistory(context, text);
    },
    onStored: (response) => keepLastConversation(context, hostKey(host), response),
    explain: (error) => formatFailure(error, { isLocal: host.isLocal, commands: context.commands }),
    columns: () => context.io.columns(),
    quit() {
      chat.isQuitting = true;
      chat.changed();
    },
  });
  if (thread !== undefined) await printThread(context, chat, thread);
  if (earlier) printEarlier(chat, earlier);
  if (chosen.hint !== undefined) chat.print('note', chosen.hint);
  chat.print('note', `${conversation.model}; /help shows the commands.`);
  const input = new TerminalInput(process.stdin);
  keepTypedAhead(process.stdin);
  process.stdin.pipe(input);
  const instance = render(<ChatApp chat={chat} paint={paint} />, {
    interactive: true,
    maxFps: framesPerSecond,
    exitOnCtrlC: false,
    // It has what Ink uses of a terminal.
    stdin: input as unknown as NodeJS.ReadStream,
  });
  try {
    await instance.waitUntilExit();
  } finally {
    process.stdin.unpipe(input).pause();
    chat.answering?.controller.abort();
  }
  if (conversation.answers === 0) return;
  context.out.note(costText(chat.conversation));
  if (conversation.stored !== undefined) context.out.note('To continue: gateway chat --continue');
}

/** This machine's daemon may have another port after a restart. */
function hostKey({ isLocal, url }: Host): string {
  return isLocal ? localName : url;
}

async function earlierOf(
  context: Context,
  { continue: continued, thread }: ChatFlags,
): Promise<EarlierConversation | undefined> {
  if (continued === undefined) return undefined;
  if (thread !== undefined)
    throw new CliError('--continue and --thread cannot be combined.', { exit: exitCodes.usage });
  const response = continued === true ? lastConversation(context, hostKey(context.host())) : continued;
  if (response === undefined)
    throw new CliError('There is no stored conversation with this host yet.', {
      exit: exitCodes.failed,
      next: 'Start one: gateway chat',
    });
  return readConversation(context, response);
}

function printEarlier(chat: ChatModel, { turns, isWhole }: EarlierConversation): void {
  if (!isWhole) chat.print('note', 'Earlier messages are not shown, but the model knows them.');
  for (const { role, text, parts = [], model } of turns) {
    if (role === 'assistant') {
      chat.printAnswer(text);
      // Under the answer, as the line with its cost when it was given.
      if (model !== undefined) chat.print('note', model);
    } else
      chat.print(
        'you',
        [text, ...parts.map(({ type }) => (type === 'input_image' ? '[image]' : '[file]'))].join(' '),
      );
  }
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
    if (text === '') continue;
    if (message.role === 'user') chat.print('you', text);
    else chat.printAnswer(text);
  }
}
