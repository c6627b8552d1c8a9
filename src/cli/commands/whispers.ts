import { Command } from '@commander-js/extra-typings';
import type { Client } from '../../shared/client.ts';
import type { Whisper, WhisperThread } from '../../shared/contract/whispers.ts';
import {
  listMembers,
  listWhispers,
  listWhisperThreads,
  readAllWhispers,
  readWhisper,
  sendWhisper,
  streamWhispers,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { missing } from '../../shared/faults/not-found.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { editDistance } from '../../shared/text/edit-distance.ts';
import { inWords } from '../../shared/text/in-words.ts';
import { ago } from '../../view/durations.ts';
import { clockTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { collectRows } from '../hosts/pages.ts';
import { example, wholeNumber } from '../options.ts';
import { escapeCell, tabSeparatedCell } from '../output/escape-controls.ts';
import type { Column } from '../output/table.ts';
import { messageText } from '../terminal/prompts.ts';
import { followRows } from './follow.ts';

export const sendWhisperCommand = (context: Context) =>
  new Command('send')
    .argument('<person>', "the recipient's handle or id")
    .argument('[text]', 'the message (default: piped input)')
    .addHelpText('after', example('gateway whispers send ann "The build is green."'))
    .action(async (person, text) => {
      const body = await messageText(context, text);
      const recipient = /^\d+$/.test(person) ? { recipientId: Number(person) } : { recipientHandle: person };
      const sending = context.client().call(sendWhisper, { body: { body, ...recipient } });
      const { data } = await sending.catch((error: unknown) =>
        explainUnknownUser(context.client(), person, error),
      );
      if (context.out.wantsJson()) return context.out.document(data);
      if (!context.io.stdout.isTty || context.out.isQuiet()) {
        return context.out.record(data, whisperColumns(context.now()), {
          pipedRow: whisperColumns(context.now()),
        });
      }
      context.out.note(`Sent to ${data.recipient.handle}.`);
    });

export const listWhispersCommand = (context: Context) =>
  new Command('list')
    .option('--with <person>', 'only whispers with this person, by handle or id')
    .option('--by-person', 'one line per person, with the number of unread whispers')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 50)
    .addHelpText('after', example('gateway whispers list --with ann'))
    .action(async ({ with: person, byPerson, limit }) => {
      const empty = 'No whispers.';
      if (byPerson) {
        const threads = await collectRows(limit, (query) =>
          context.client().call(listWhisperThreads, { query }),
        );
        return context.out.table(threads, threadColumns(context.now()), { empty });
      }
      const found = await listWhispersOf(context, { person, limit });
      await context.out.table(found, whisperColumns(context.now()), { empty });
    });

export const whisperThreadCommand = (context: Context) =>
  new Command('thread')
    .argument('<person>', 'the handle or id of a person')
    .option('--limit <count>', 'maximum number of whispers, the newest', wholeNumber({ min: 1 }), 50)
    .addHelpText('after', example('gateway whispers thread ann'))
    .action(async (person, { limit }) => {
      const found = await listWhispersOf(context, { person, limit });
      // Oldest first, as a conversation.
      const whispers = found.toReversed();
      const { out } = context;
      if (out.wantsJson() || out.isQuiet())
        return out.table(whispers, whisperColumns(context.now()), { empty: '' });
      if (whispers.length === 0) out.note('No whispers.');
      for (const whisper of whispers) context.io.stdout.write(whisperLine(whisper, context));
    });

export const readWhisperCommand = (context: Context) =>
  new Command('read')
    .argument('[id]', 'the id of a whisper to you', wholeNumber({ min: 1 }))
    .option('--all', 'all your whispers')
    .option('--with <person>', 'all whispers from this person, by handle or id')
    .addHelpText('after', example('gateway whispers read --with ann'))
    .action(async (id, { all, with: person }) => {
      if ((id === undefined) === (all === undefined && person === undefined)) {
        throw new CliError('Give a whisper id, --all or --with PERSON.', { exit: exitCodes.usage });
      }
      if (id !== undefined) {
        const { data } = await context.client().call(readWhisper, { params: { id } });
        return context.out.done(data, `Marked ${data.id} from ${data.sender.handle} as read.`);
      }
      const { data } = await context.client().call(readAllWhispers, { query: { with: person } });
      return context.out.done(data, `Marked ${data.readCount} as read.`);
    });

export const watchWhispersCommand = (context: Context) =>
  new Command('watch')
    .addHelpText('after', example('gateway whispers watch --jq \'.sender.handle + ": " + .body\''))
    .action(async () => {
      await followRows(context, {
        newest: async () => {
          const { data } = await context.client().call(listWhispers, { query: { limit: 1 } });
          return data[0]?.id ?? 0;
        },
        open: (lastId, options) =>
          context.client().stream(streamWhispers, { headers: { 'last-event-id': lastId } }, options),
        show: ({ event, data }) => {
          if (event !== 'whisper.created') return;
          const whisper = JSON.parse(data) as Whisper;
          if (context.out.wantsJson()) return context.out.element(whisper);
          context.io.stdout.write(whisperLine(whisper, context));
        },
      });
      context.exit = exitCodes.interrupted;
    });

/** Newest first. */
function listWhispersOf(
  context: Context,
  { person, limit }: { person: string | undefined; limit: number },
): Promise<Whisper[]> {
  return collectRows(limit, (page) =>
    context.client().call(listWhispers, { query: { with: person, ...page } }),
  ).catch((error: unknown) => explainUnknownUser(context.client(), person, error));
}

/** Rethrows a failure; a 404 names the person, and similar handles among those that the caller can list. */
export async function explainUnknownUser(
  client: Client,
  person: string | undefined,
  error: unknown,
): Promise<never> {
  if (person === undefined || !(error instanceof ReceivedError) || error.code !== 'not_found') throw error;
  const near = (await knownHandles(client).catch(() => [])).filter((handle) =>
    Number.isFinite(editDistance(person.toLowerCase(), handle, Math.ceil(handle.length / 3))),
  );
  throw new CliError(missing('user', person), {
    exit: exitCodes.failed,
    next:
      near.length > 0
        ? `Did you mean ${inWords(near.slice(0, 3))}?`
        : 'Check the handle. The members of your workspace: gateway workspaces members',
    cause: error,
  });
}

/** The members of the workspace, and the people who have whispered with the caller. */
async function knownHandles(client: Client): Promise<string[]> {
  const [members, threads] = await Promise.all([
    client.call(listMembers, { params: { workspace: 'me' }, query: {} }),
    client.call(listWhisperThreads, { query: {} }),
  ]);
  const handles = [
    ...members.data.map(({ user }) => user.handle),
    ...threads.data.map(({ peer }) => peer.handle),
  ];
  return [...new Set(handles)];
}

/** One whisper on one line: with the time of day on a terminal, with full time and id in a pipe. */
function whisperLine(
  { id, body, createdAt, sender, recipient }: Whisper,
  { io, out }: Pick<Context, 'io' | 'out'>,
): string {
  if (!io.stdout.isTty) {
    const cells = [createdAt, String(id), sender.handle, recipient.handle, body];
    return `${cells.map(tabSeparatedCell).join('\t')}\n`;
  }
  const paint = out.paint.stdout;
  const who = paint('cyan', escapeCell(`${sender.handle} → ${recipient.handle}`));
  return `${paint('dim', clockTime(createdAt))}  ${who}  ${escapeCell(body)}\n`;
}

const whisperColumns = (now: number): Column<Whisper>[] => [
  { title: 'id', value: ({ id }) => id, align: 'right' },
  { title: 'from', value: ({ sender }) => sender.handle },
  { title: 'to', value: ({ recipient }) => recipient.handle },
  { title: 'text', value: ({ body }) => body },
  { title: 'sent', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
  {
    title: 'read',
    value: ({ readAt }) => readAt,
    show: ({ readAt }) => (readAt === null ? 'no' : ago(readAt, now)),
    style: ({ readAt }) => (readAt === null ? 'bold' : 'dim'),
    isSpare: true,
  },
];

export const threadColumns = (now: number): Column<WhisperThread>[] => [
  { title: 'with', value: ({ peer }) => peer.handle },
  { title: 'name', value: ({ peer }) => peer.name, isSpare: true },
  {
    title: 'unread',
    value: ({ unread }) => unread,
    style: ({ unread }) => (unread > 0 ? 'bold' : 'dim'),
    align: 'right',
  },
  { title: 'last', value: ({ last }) => last.body },
  { title: 'at', value: ({ last }) => last.createdAt, show: ({ last }) => ago(last.createdAt, now) },
];
