import { Argument, Command } from '@commander-js/extra-typings';
import type { AutopilotRun, AutopilotRunEntry } from '../../shared/contract/autopilots.ts';
import type { ThreadEvent } from '../../shared/contract/threads.ts';
import {
  cancelAutopilotRun,
  followThread,
  getAutopilotRun,
  listAutopilotRuns,
  runAutopilot,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { plannedTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failures/cli-error.ts';
import { resolveAutopilot, resolveThread } from '../names/resolve.ts';
import { example, wholeNumber } from '../options.ts';
import { escapeControls } from '../output/escape-controls.ts';
import type { Column } from '../output/table.ts';
import { pipedText, withoutStdin } from '../terminal/piped-input.ts';
import { runColumns } from './chats.ts';
import { follow } from './follow.ts';

const autopilotArgument = ['<autopilot>', 'the id, handle or name of one of your autopilots'] as const;

export const runAutopilotCommand = (context: Context) =>
  new Command('run')
    .argument(...autopilotArgument)
    .addArgument(new Argument('[text...]', 'what to ask; piped input is appended'))
    .option('--chat <chat>', 'the chat to continue, by id (th_…) or title; by default a new one')
    .option(
      '--max-sats <number>',
      'the most that the run may pay; approves these payments',
      wholeNumber({ min: 0 }),
    )
    .option('--no-wait', 'print the run without waiting for its end')
    .option('-n, --no-stdin', 'do not read standard input')
    .addHelpText('after', example('gateway autopilots run night-watch "Anything new?" --max-sats 50'))
    .action(async (given, words, { chat, maxSats, wait, stdin }) => {
      const input = await inputOf(context, words, stdin);
      const autopilot = await resolveAutopilot(context, given);
      const chatId = chat === undefined ? undefined : await resolveThread(context, chat);
      const { data: started } = await context.client().call(runAutopilot, {
        params: { autopilot },
        headers: {},
        body: { input, chatId, maxSpendMsats: maxSats === undefined ? undefined : maxSats * 1000 },
      });
      if (!wait) return context.out.record(started, runColumns(context.now()));
      if (!(await ended(context, started))) {
        context.exit = exitCodes.interrupted;
        return context.out.note(
          `The run continues. To cancel it: gateway autopilots cancel ${given} ${started.id}`,
        );
      }
      const params = { autopilot, run: started.id };
      await showOutcome(context, (await context.client().call(getAutopilotRun, { params })).data);
    });

export const listAutopilotRunsCommand = (context: Context) =>
  new Command('runs')
    .argument(...autopilotArgument)
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1, max: 200 }), 100)
    .addHelpText('after', example('gateway autopilots runs night-watch --json=id,status,chatId'))
    .action(async (given, { limit }) => {
      const autopilot = await resolveAutopilot(context, given);
      const { data } = await context
        .client()
        .call(listAutopilotRuns, { params: { autopilot }, query: { limit } });
      await context.out.table(data, entryColumns(context.now()), { empty: 'No runs.' });
    });

export const cancelAutopilotRunCommand = (context: Context) =>
  new Command('cancel')
    .argument(...autopilotArgument)
    .argument('<run>', 'the id of the run (run_…)')
    .addHelpText('after', example('gateway autopilots cancel night-watch run_01jd…'))
    .action(async (given, run) => {
      const autopilot = await resolveAutopilot(context, given);
      const { data } = await context.client().call(cancelAutopilotRun, { params: { autopilot, run } });
      await context.out.record(data, runColumns(context.now()));
    });

/** Runs, and what a schedule did not run: how often it was due, and why. */
const entryColumns = (now: number): Column<AutopilotRunEntry>[] => [
  ...runColumns(now).map((column: Column<AutopilotRunEntry>) => ({ ...column, ...shownAs[column.title] })),
  {
    title: 'scheduled_at',
    value: ({ meta }) => meta.scheduledAt,
    show: ({ meta }) => (meta.scheduledAt === null ? '–' : plannedTime(meta.scheduledAt)),
  },
];

/** How columns of runs are shown here. */
const shownAs: Partial<Record<string, Pick<Column<AutopilotRunEntry>, 'show'>>> = {
  status: { show: statusText },
  // Why a run did not start is nowhere else.
  error: { show: ({ status, error }) => (status === 'skipped' ? error?.message : error?.code) ?? '–' },
};

function statusText({ status, notRun }: AutopilotRunEntry): string {
  return notRun && notRun.count > 1 ? `${status} ×${notRun.count}` : status;
}

async function inputOf(context: Context, words: string[], readsStdin: boolean): Promise<string> {
  const isPiped = readsStdin && !context.io.stdin.isTty;
  const piped = isPiped ? (await pipedText(context, withoutStdin)).trimEnd() : '';
  const input = [words.join(' '), piped].filter((part) => part !== '').join('\n\n');
  if (input !== '') return input;
  throw usageError(
    'Nothing to ask.',
    'Give a text, pipe one in, or both: gateway autopilots run night-watch "Anything new?"',
  );
}

/** Reports what a run does until it ends; resolves to false if Ctrl-C is pressed before. */
async function ended(context: Context, { id, chatId }: AutopilotRun): Promise<boolean> {
  const done = new AbortController();
  await follow(context, {
    until: done.signal,
    open: (lastId, options) =>
      context
        .client()
        .stream(
          followThread,
          { params: { id: chatId }, query: {}, headers: { 'last-event-id': lastId } },
          options,
        ),
    show({ data }) {
      const event = JSON.parse(data) as ThreadEvent;
      if (event.run !== id) return;
      const step = describe(event);
      if (step !== undefined) context.out.note(step);
      if (/^run_(completed|failed|cancelled)$/.test(event.type)) done.abort();
    },
  });
  return done.signal.aborted;
}

/** The line that reports an event while the user waits; undefined for events that are not shown. */
function describe({ type, data }: ThreadEvent): string | undefined {
  if (type === 'tool_call_started') return `Using ${escapeControls(String(data.tool))}.`;
  if (type === 'tool_call_failed') {
    const { message } = data.error as { message: string };
    return `${escapeControls(String(data.tool))} failed: ${escapeControls(message)}`;
  }
  if (type === 'payment_succeeded' || type === 'payment_pending') {
    const verb = type === 'payment_succeeded' ? 'Paid' : 'Paying';
    return `${verb} ${bitcoin(Number(data.amount_msats))} to ${escapeControls(String(data.host))}.`;
  }
  return undefined;
}

async function showOutcome(context: Context, run: AutopilotRun): Promise<void> {
  if (run.status !== 'completed') context.exit = exitCodes.failed;
  if (context.out.wantsJson()) return context.out.document(run);
  if (run.output !== null) return context.out.text(`${escapeControls(run.output)}\n`);
  context.out.warn(
    run.error === null ? 'The run was cancelled.' : `The run failed: ${escapeControls(run.error.message)}`,
  );
}
