import { writeFile } from 'node:fs/promises';
import { getModel } from '../../addresses.ts';
import { tokensText } from '../../commands/respond/bill.ts';
import { dollars } from '../../output/amount.ts';
import type { ChatModel } from './chat-model.ts';

interface SlashCommand {
  /** As it is typed, with what may follow. */
  usage: string;
  summary: string;
  /** Resolves to what a person is told. */
  run(chat: ChatModel, rest: string): Promise<string> | string;
}

const slashCommands: Readonly<Record<string, SlashCommand>> = {
  model: { usage: '/model [NAME]', summary: 'go on with another model', run: changeModel },
  system: {
    usage: '/system [TEXT]',
    summary: 'instructions that stand before everything; alone: none',
    run({ conversation }, rest) {
      conversation.system = rest === '' ? undefined : rest;
      return rest === '' ? 'No instructions any more.' : 'From now on with these instructions.';
    },
  },
  clear: { usage: '/clear', summary: 'begin anew', run: clear },
  save: { usage: '/save FILE', summary: 'write the conversation as Markdown', run: save },
  cost: {
    usage: '/cost',
    summary: 'what all of it took',
    run: costText,
  },
  help: {
    usage: '/help',
    summary: 'this',
    run: () => [...Object.values(slashCommands).map(helpLine), '', ...keyHelp].join('\n'),
  },
  quit: {
    usage: '/quit',
    summary: 'leave; so do Ctrl-D and Ctrl-C',
    run(chat) {
      chat.options.quit();
      return '';
    },
  },
};

/** Every command, with how it is written. */
export function slashUsages(): { name: string; usage: string; summary: string }[] {
  return Object.entries(slashCommands).map(([name, { usage, summary }]) => ({ name, usage, summary }));
}

const keyHelp = [
  'Enter sends; Alt-Enter, Ctrl-J or \\ and Enter begin a new line.',
  'Tab completes a command; ↑ ↓ go through the lines, then through what you wrote.',
  'Emacs keys edit: Ctrl-A E B F K U W Y T and Alt-B F D.',
  'Ctrl-C ends an answer and tells what it cost; it empties the line, then leaves.',
];

/** Runs a line that begins with a slash; throws in words what is wrong with it. */
export async function runSlash(chat: ChatModel, line: string): Promise<string> {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const names = Object.keys(slashCommands);
  const meant = names.filter((one) => one === name || (name !== '' && one.startsWith(name)));
  const command = meant.length === 1 || meant[0] === name ? slashCommands[meant[0] ?? ''] : undefined;
  if (!command)
    throw new Error(`There is no /${name}; there are ${names.map((one) => `/${one}`).join(' ')}.`);
  return command.run(chat, rest.trim());
}

function helpLine({ usage, summary }: SlashCommand): string {
  return `${usage.padEnd(16)}${summary}`;
}

async function changeModel({ conversation, options }: ChatModel, name: string): Promise<string> {
  if (name === '') return `It is ${conversation.model}. /model NAME goes on with another.`;
  const found = await options.context.client().call(getModel, { params: { model: name } });
  conversation.model = found.id;
  return `From now on ${found.id} answers.`;
}

function clear({ conversation }: ChatModel): string {
  if (conversation.thread !== undefined)
    throw new Error('The thread keeps what was said; begin another without --thread.');
  conversation.turns = [];
  return 'What was said before is forgotten.';
}

/** Never writes over a file that is there. */
async function save({ conversation }: ChatModel, path: string): Promise<string> {
  if (path === '') throw new Error('Name a file: /save talk.md');
  if (conversation.turns.length === 0) throw new Error('There is nothing to save yet.');
  try {
    await writeFile(path, conversation.markdown(), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new Error(code === 'EEXIST' ? `There is a file ${path} already.` : message, { cause });
  }
  return `Saved in ${path}.`;
}

/** What the conversation took until now. */
export function costText({ conversation }: Pick<ChatModel, 'conversation'>): string {
  const { answers, inputTokens, outputTokens, unpriced } = conversation;
  const parts = [
    answers === 1 ? '1 answer' : `${answers} answers`,
    tokensText(inputTokens, outputTokens),
    dollars(conversation.costUsd()),
  ];
  if (unpriced > 0) parts.push(`${unpriced} at an unknown price`);
  return parts.join(' · ');
}
