import { Command } from '@commander-js/extra-typings';
import type { ThreadEvent } from '../../../shared/contract/threads.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { followThread } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { clockTime } from '../../output/time.ts';
import { tabSeparatedCell } from '../../output/visible.ts';
import { example } from '../example.ts';
import { follow } from '../follow-rows.ts';
import { wholeNumber } from '../number-option.ts';

export const watchThreadCommand = (context: Context) =>
  new Command('watch')
    .argument('<id>', 'the id of the thread, th_…')
    .option('--after <sequence>', 'only what came after this event', wholeNumber({ min: 0 }))
    .option('--once', 'end with the first run that has ended, or ends')
    .addHelpText('after', example('gateway threads watch th_01jd… --json'))
    .action((id, options) => watch(context, { id, ...options }));

interface WatchFlags {
  id: string;
  after?: number | undefined;
  once?: boolean | undefined;
}

/** Follows a thread until it is deleted, or Ctrl-C. A lost connection is told, tried again, and resumed. */
async function watch(context: Context, { id, after, once }: WatchFlags): Promise<void> {
  const done = new AbortController();
  await follow(context, {
    until: done.signal,
    open: (lastId, options) =>
      context.client().stream(
        followThread,
        {
          params: { id },
          query: { after: lastId === undefined ? after : undefined },
          headers: { 'last-event-id': lastId },
        },
        options,
      ),
    async show({ data }) {
      const event = JSON.parse(data) as ThreadEvent;
      await show(context, event);
      if (once && /^run_(completed|failed|cancelled)$/.test(event.type)) done.abort();
    },
  });
  if (!done.signal.aborted) context.exit = exitCodes.interrupted;
}

async function show(context: Context, event: ThreadEvent): Promise<void> {
  if (context.out.wantsJson()) return context.out.element(event);
  const { created_at: at, type, run, data } = event;
  const { isTty } = context.io.stdout;
  const cells = [isTty ? clockTime(at) : at, type, run ?? '', detailOf(data)].map(tabSeparatedCell);
  const line = cells.join('\t');
  context.out.text(`${isTty ? line.trimEnd() : line}\n`);
}

function detailOf({ error, provider, model, messages }: ThreadEvent['data']): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  if (typeof provider === 'string') return `${provider} ${model}`;
  if (typeof model === 'string') return model;
  return Array.isArray(messages) ? `${messages.length} messages` : '';
}
