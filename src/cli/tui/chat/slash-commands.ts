import { writeFile } from 'node:fs/promises';
import type { ModelEntry } from '../../../shared/contract/models.ts';
import { getModel, listModels } from '../../../shared/endpoints.ts';
import { dollars } from '../../../view/money.ts';
import { availableProviders } from '../../commands/models.ts';
import { tokensText } from '../../commands/respond/call-cost.ts';
import type { Context } from '../../context.ts';
import { whyNotWritten } from '../../failures/file-faults.ts';
import { pathSuggestions } from './attached-files.ts';
import type { Conversation } from './conversation.ts';

/** The state that slash commands act on. */
interface SlashContext {
  context: Context;
  conversation: Conversation;
  quit(): void;
  /** Attaches a file to the next question; returns a note. */
  attach(path: string): string;
  /** Drops the files that wait for it. */
  detach(): void;
}

interface SlashCommand {
  usage: string;
  summary: string;
  /** Resolves to a note for the transcript. */
  run(chat: SlashContext, rest: string): Promise<string> | string;
}

const slashCommands: Readonly<Record<string, SlashCommand>> = {
  model: { usage: '/model [NAME]', summary: 'continue with another model', run: changeModel },
  system: {
    usage: '/system [TEXT]',
    summary: 'set the instructions; without text, clear them',
    run({ conversation }, rest) {
      conversation.system = rest === '' ? undefined : rest;
      return rest === '' ? 'Instructions cleared.' : 'Instructions set.';
    },
  },
  attach: {
    usage: '/attach PATH',
    summary: 'attach an image, PDF or text file to the next question; also @PATH in it',
    run({ attach }, path) {
      if (path === '') throw new Error('Expected a file: /attach photo.png');
      return attach(path);
    },
  },
  clear: { usage: '/clear', summary: 'start a new conversation', run: clear },
  save: { usage: '/save FILE', summary: 'save the conversation as Markdown', run: save },
  cost: {
    usage: '/cost',
    summary: 'show tokens and cost so far',
    run: ({ conversation }) => costText(conversation),
  },
  help: {
    usage: '/help',
    summary: 'show this help',
    run: () => [...Object.values(slashCommands).map(helpLine), '', ...keyHelp].join('\n'),
  },
  quit: {
    usage: '/quit',
    summary: 'quit; also Ctrl-D and Ctrl-C',
    run(chat) {
      chat.quit();
      return '';
    },
  },
};

const keyHelp = [
  'Enter sends; Alt-Enter, Ctrl-J or \\ and Enter insert a line break.',
  'A blank before a slash makes it text.',
  'Tab completes a command or the path of a file; ↑ ↓ move between lines, then through the history.',
  'Emacs keys edit: Ctrl-A E B F K U W Y T and Alt-B F D.',
  'Ctrl-C stops an answer and shows its cost; pressed again it quits. Otherwise it clears the line, then quits.',
  'Ctrl-Z suspends the chat; fg resumes it.',
];

/** Whether a line is a command, unlike one that begins with the path of a file, a comment of code, or a blank. */
export const isSlash = (text: string) => /^\/[^\s/]*(\s|$)/.test(text);

/** Runs a line that starts with a slash; throws for the user if it fails. */
export async function runSlash(chat: SlashContext, line: string): Promise<string> {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const names = Object.keys(slashCommands);
  const matches = names.filter((one) => one === name || (name !== '' && one.startsWith(name)));
  const command = matches.length === 1 || matches[0] === name ? slashCommands[matches[0] ?? ''] : undefined;
  if (!command) {
    throw new Error(`Unknown command /${name}; available: ${names.map((one) => `/${one}`).join(' ')}.`);
  }
  return command.run(chat, rest.trim());
}

function helpLine({ usage, summary }: SlashCommand): string {
  return `${usage.padEnd(16)}${summary}`;
}

async function changeModel({ conversation, context }: SlashContext, name: string): Promise<string> {
  if (name === '') return `The model is ${conversation.model}. /model NAME switches to another one.`;
  const found = await context.client().call(getModel, { params: { model: name } });
  conversation.model = found.id;
  return `Switched to ${found.id}.`;
}

function clear({ conversation, detach }: SlashContext): string {
  if (conversation.thread !== undefined) {
    throw new Error('The thread stores this conversation; start another one without --thread.');
  }
  conversation.clear();
  detach();
  return 'Started a new conversation.';
}

/** Never overwrites a file. */
async function save({ conversation }: SlashContext, path: string): Promise<string> {
  if (path === '') throw new Error('Expected a file name: /save talk.md');
  if (conversation.turns.length === 0) throw new Error('There is nothing to save yet.');
  try {
    await writeFile(path, conversation.markdown(), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new Error(whyNotWritten(path, cause as NodeJS.ErrnoException), { cause });
  }
  return `Saved to ${path}.`;
}

/** The totals of a conversation. */
export function costText(conversation: Conversation): string {
  const { answers, inputTokens, outputTokens, unpriced } = conversation;
  const parts = [
    answers === 1 ? '1 answer' : `${answers} answers`,
    tokensText(inputTokens, outputTokens),
    dollars(conversation.costUsd()),
  ];
  if (unpriced > 0) parts.push(`${unpriced} with unknown price`);
  return parts.join(' · ');
}

/** A completion of a slash command. */
interface Suggestion {
  /** The whole prompt. */
  line: string;
  summary: string;
}

const modelsMax = 6;

/** Completes slash commands, paths of files, and the names of available models, which are fetched on first use. */
export class Suggestions {
  readonly #context: Context;
  readonly #onChange: () => void;
  #models: string[] | undefined;
  #text = '';
  #paths: Suggestion[] = [];

  constructor(context: Context, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /** Best first; none if the line is not a command. */
  of(text: string): Suggestion[] {
    // Called for every frame, and may read folders.
    if (text !== this.#text) {
      this.#text = text;
      this.#paths = pathSuggestions(text, this.#context.home);
    }
    if (this.#paths.length > 0 || !text.startsWith('/') || text.includes('\n')) return this.#paths;
    const model = /^\/model +(\S*)$/.exec(text);
    if (model) return this.#modelsLike(model[1] ?? '');
    return Object.entries(slashCommands)
      .filter(([name]) => `/${name}`.startsWith(text))
      .map(([name, command]) => ({
        line: command.usage.includes(' ') ? `/${name} ` : `/${name}`,
        summary: helpLine(command),
      }));
  }

  #modelsLike(part: string): Suggestion[] {
    if (!this.#models) void this.#fetchModels();
    const wanted = part.toLowerCase();
    return (this.#models ?? [])
      .filter((id) => id.toLowerCase().includes(wanted) && id !== part)
      .slice(0, modelsMax)
      .map((id) => ({ line: `/model ${id}`, summary: id }));
  }

  async #fetchModels(): Promise<void> {
    this.#models = [];
    try {
      const { data } = await this.#context.client().call(listModels, { query: {} });
      this.#models = data.filter(canChat).map(({ id }) => id);
    } catch {
      // Completion is optional.
    }
    this.#onChange();
  }
}

function canChat(model: ModelEntry): boolean {
  const { kind } = model.service.capabilities;
  return (kind === null || kind === 'chat') && availableProviders(model) !== '';
}
