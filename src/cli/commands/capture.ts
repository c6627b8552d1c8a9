import { Command } from '@commander-js/extra-typings';
import type { getCapture as getCaptureContract } from '../../shared/contract/content.ts';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { Context } from '../context.ts';
import { clearTraceContent, getCapture } from '../endpoints.ts';
import { resolveFilter } from '../names/resolve.ts';
import { example } from '../options.ts';
import { count } from '../output/amount.ts';
import { sizeText } from '../output/progress.ts';
import type { Column } from '../output/table.ts';
import { ago } from '../output/time.ts';
import { pastTime } from '../times.ts';

type Capture = Result<typeof getCaptureContract>;

export const captureStatusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway capture status --json=requests,bytes'))
    .action(async () => {
      await context.out.record(await context.client().call(getCapture, {}), columns(context.now()));
    });

const columns = (now: number): Column<Capture>[] => [
  { title: 'content', label: 'kept in', value: ({ content }) => content },
  { title: 'requests', value: ({ requests }) => requests, show: ({ requests }) => count(requests) },
  { title: 'bytes', label: 'size', value: ({ bytes }) => bytes, show: ({ bytes }) => sizeText(bytes) },
  {
    title: 'memory_bytes_max',
    label: 'at most',
    value: (capture) => capture.memory_bytes_max,
    show: (capture) => sizeText(capture.memory_bytes_max),
  },
  {
    title: 'oldest_at',
    label: 'oldest',
    value: (capture) => capture.oldest_at,
    show: (capture) => (capture.oldest_at === null ? '–' : ago(capture.oldest_at, now)),
  },
  { title: 'dropped', value: ({ dropped }) => dropped, show: ({ dropped }) => count(dropped) },
];

export const clearCaptureCommand = (context: Context) =>
  new Command('clear')
    .option('--key <key>', 'only content of this key’s requests, by id or name')
    .option(
      '--until <time>',
      'only content of requests before this time or through this UTC day',
      pastTime(context),
    )
    .addHelpText('after', example('gateway capture clear --until yesterday'))
    .action(async ({ key, until }) => {
      const filter = await resolveFilter(context, { key, model: undefined });
      const cleared = await context.client().call(clearTraceContent, { query: { key: filter.key, until } });
      const { deleted } = cleared;
      await context.out.done(
        cleared,
        `The content of ${deleted} ${deleted === 1 ? 'request was' : 'requests were'} deleted.`,
      );
    });
