import { Argument, Command, Option } from '@commander-js/extra-typings';
import { captureLevels } from '../../shared/constants/capture-levels.ts';
import { clearedStores, textStores } from '../../shared/constants/text-stores.ts';
import type {
  clearTraceContent as clearTraceContentContract,
  getCapture as getCaptureContract,
} from '../../shared/contract/content.ts';
import type { Result } from '../../shared/contract/endpoint.ts';
import {
  captureWire,
  clearTraceContent,
  endCaptureWire,
  getCapture,
  setKeyDefaults,
  updateWorkspace,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { sizeText } from '../../shared/text/size-text.ts';
import { ago } from '../../view/durations.ts';
import { type KeyNames, keyText } from '../../view/key-names.ts';
import { count } from '../../view/numbers.ts';
import { plannedTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { keyNamesFor } from '../names/key-names.ts';
import { resolveFilter, resolveKey, resolveWorkspace } from '../names/resolve.ts';
import { example, minutes, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { pastTime } from '../times.ts';
import { queryIn } from './traces/query-in.ts';

type Capture = Result<typeof getCaptureContract>;

export const captureStatusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway capture status --json=requests,bytes'))
    .action(async () => {
      const capture = await context.client().call(getCapture, {});
      await context.out.record(capture, columns(context.now(), await keyNamesFor(context)));
    });

const sources: Readonly<Record<Capture['source'], string>> = {
  host: 'set by host',
  workspace: 'set by workspace',
  key: 'set by key',
  unasked: 'until it is set for the workspace or key',
};

export const setCaptureCommand = (context: Context) =>
  new Command('set')
    .addArgument(
      new Argument('<level>', 'the most that is kept; `default` leaves it to the host').choices([
        ...captureLevels,
        'default',
      ] as const),
    )
    .option('--workspace <workspace>', 'for this workspace', 'me')
    .option('--key <key>', 'for this key only, by id or name')
    .addHelpText('after', example('gateway capture set off --key ci'))
    .action(async (given, { workspace: reference, key }) => {
      const capture = given === 'default' ? null : given;
      const client = context.client();
      const workspace = await resolveWorkspace(context, reference);
      const changed =
        key === undefined
          ? await client.call(updateWorkspace, { params: { workspace }, body: { capture } })
          : await client.call(setKeyDefaults, {
              params: { workspace, key: await resolveKey(context, { workspace, key }) },
              body: { capture },
            });
      const who = key === undefined ? 'the workspace' : `the key ${key}`;
      const what = capture === null ? 'as the host decides' : `at most: ${capture}`;
      await context.out.done(changed, `Content of calls of ${who} is kept ${what}.`);
    });

export const captureWireCommand = (context: Context) =>
  new Command('wire')
    .option('--for <time>', 'how long new calls are kept so: 10m, up to 24h', minutes, 10)
    .option('--key <key>', 'only calls with this key, by id or name')
    .option('--stop', 'keep no more')
    .addHelpText('after', example('gateway capture wire --for 10m --key ci'))
    .action(async ({ for: length, key, stop }) => {
      const client = context.client();
      if (stop) {
        await context.out.done(
          await client.call(endCaptureWire, {}),
          'Streams are no longer kept as they are.',
        );
        return;
      }
      const filter = await resolveFilter(context, { key, model: undefined });
      const kept = await client.call(captureWire, { body: { minutes: length, key: filter.key } });
      const until = kept.wire.at(-1)?.until ?? '';
      await context.out.done(
        kept,
        `Streams are kept as they are until ${plannedTime(until)}. See one: gateway calls show REQ --wire`,
      );
    });

/** `ci until Sat 2026-11-21 12:10 UTC`. An earlier daemon has none. */
function wireText({ wire = [] }: Partial<Pick<Capture, 'wire'>>, names: KeyNames): string | null {
  const shown = wire.map(
    ({ key, until }) => `${key === null ? 'all' : keyText(key, names)} until ${plannedTime(until)}`,
  );
  return shown.join(', ') || null;
}

const columns = (now: number, names: KeyNames): Column<Capture>[] => [
  {
    title: 'level',
    label: 'kept in',
    value: ({ level }) => level,
    show: ({ level, source }) => `${level}, ${sources[source]}`,
  },
  { title: 'content', label: 'host keeps', value: ({ content }) => content },
  { title: 'requests', value: ({ requests }) => requests, show: ({ requests }) => count(requests) },
  { title: 'bytes', label: 'size', value: ({ bytes }) => bytes, show: ({ bytes }) => sizeText(bytes) },
  {
    title: 'memory_bytes_max',
    label: 'in memory at most',
    value: (capture) => capture.memory_bytes_max,
    show: (capture) => sizeText(capture.memory_bytes_max),
  },
  {
    title: 'disk_bytes',
    label: 'on disk',
    value: (capture) => capture.disk_bytes,
    show: (capture) => sizeText(capture.disk_bytes),
  },
  {
    title: 'disk_bytes_max',
    label: 'on disk at most',
    value: (capture) => capture.disk_bytes_max,
    show: (capture) => `${sizeText(capture.disk_bytes_max)}, ${capture.disk_days} days`,
  },
  {
    title: 'oldest_at',
    label: 'oldest',
    value: (capture) => capture.oldest_at,
    show: (capture) => (capture.oldest_at === null ? '–' : ago(capture.oldest_at, now)),
  },
  {
    title: 'wire',
    label: 'streams as they are',
    value: (capture) => wireText(capture, names),
    show: (capture) => wireText(capture, names) ?? 'no',
  },
  { title: 'dropped', value: ({ dropped }) => dropped, show: ({ dropped }) => count(dropped) },
];

export const clearCaptureCommand = (context: Context) =>
  new Command('clear')
    .argument('[query...]', 'only texts of calls that match, such as status:failed tag:team=search')
    .option('--key <key>', 'only texts of this key’s calls, by id or name')
    .option('--user <user>', 'only texts of calls for this end user')
    .option(
      '--until <time>',
      'only texts of calls before this time or through this UTC day',
      pastTime(context),
    )
    .addOption(new Option('--only <store>', 'only what is stored there').choices(clearedStores))
    .option('--forget', 'also have a pseudonym stand for the user in traces, usage, tags, events and budgets')
    .addOption(yesOption())
    .addHelpText('after', example('gateway capture clear --until yesterday --yes'))
    .action(async (words, { key, user, until, only, forget, yes }) => {
      const conditions = [...words, key, user, until].filter((condition) => condition !== undefined);
      if (conditions.some((condition) => condition.trim() === ''))
        throw new CliError('A condition is empty; without any, the texts of all calls are deleted.', {
          exit: exitCodes.usage,
        });
      const filter = await resolveFilter(context, { key, model: undefined });
      await confirm(context, clearQuestion(conditions.length > 0, only, forget), { yes });
      const cleared = await context.client().call(clearTraceContent, {
        query: { ...queryIn(words), key: filter.key, user, until, only, forget },
      });
      await context.out.done(cleared, clearedText(cleared));
    });

function clearQuestion(
  isLimited: boolean,
  only: keyof typeof names | undefined,
  forget: true | undefined,
): string {
  const calls = isLimited ? 'the calls that match' : 'ALL calls';
  const stores = only === undefined ? Object.values(names).join(', ') : names[only];
  return `Delete the texts of ${calls} (${stores})${forget ? ', and the name of the user' : ''}? They cannot be restored.`;
}

const names = { content: 'content of calls', ...textStores };

/** What was deleted where, and what stays. */
function clearedText({
  stores,
  running,
  stays,
  forgotten,
}: Result<typeof clearTraceContentContract>): string {
  const width = Math.max(...stores.map(({ store }) => names[store].length));
  return [
    'Deleted:',
    ...stores.map(({ store, deleted }) => `  ${names[store].padEnd(width)}  ${count(deleted)}`),
    ...(running > 0
      ? [
          `${running === 1 ? '1 call still runs' : `${count(running)} calls still run`}: what they store is deleted by the same command when they have ended.`,
        ]
      : []),
    ...(forgotten === null
      ? []
      : [
          `The user is ${forgotten.pseudonym} in ${count(forgotten.calls)} finished and ${count(forgotten.rejections)} rejected calls.`,
        ]),
    ...(forgotten !== null && forgotten.budgets.length > 0
      ? [`Budgets that count no later calls of the user: ${forgotten.budgets.join(', ')}`]
      : []),
    'Kept:',
    ...stays.map(({ store, what }) => `  ${store}: ${what}`),
  ].join('\n');
}
