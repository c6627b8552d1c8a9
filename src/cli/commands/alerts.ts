import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import {
  type AlertKind,
  type AlertUnit,
  alertKinds,
  alertUnits,
  isOfManyCalls,
} from '../../shared/constants/alert-kinds.ts';
import { type WebhookFormat, webhookFormats } from '../../shared/constants/webhook-formats.ts';
import type {
  Alert,
  AlertCondition,
  AlertFiring,
  AlertPreview,
  AlertSettings,
} from '../../shared/contract/alerts.ts';
import {
  deleteAlert,
  getAlert,
  listAlerts,
  listFirings,
  previewAlert,
  putAlert,
  testAlert,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { alertFields, alertValue } from '../../view/alerts.ts';
import { duration } from '../../view/durations.ts';
import { dayAndClock, shortTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { resolveKey, resolveWorkspace } from '../names/resolve.ts';
import { example, minutes, wholeNumber, yesOption } from '../options.ts';
import { listColumn } from '../output/field-columns.ts';
import type { Column } from '../output/table.ts';
import { pipedText, typedStdin } from '../terminal/piped-input.ts';
import { confirm } from '../terminal/prompts.ts';
import { ownName } from './budgets.ts';

const ofWorkspace = ['--workspace <workspace>', 'the workspace that the alert is of', 'me'] as const;
const minCalls = [
  '--min-calls <number>',
  'of error_share and p95: with fewer calls in the window it does not fire; default: 20',
  wholeNumber({ min: 1, max: 1_000_000 }),
] as const;
const webhook = [
  '--webhook <url>',
  'gets a signed POST when it fires and resolves; - reads the address from standard input',
] as const;
const webhookFormat = () =>
  new Option(
    '--webhook-format <format>',
    'how the receiver expects messages; auto, the default: its address tells',
  ).choices(['auto', ...webhookFormats] as const);

const formatOf = (given: WebhookFormat | 'auto' | undefined) =>
  given && { webhook_format: given === 'auto' ? null : given };
const filterOptions = () => [
  new Option('--key <key>', 'only calls with this key').conflicts(['model', 'provider']),
  new Option('--model <model>', 'only calls of this model'),
  new Option('--provider <provider>', 'only calls at this provider'),
];

export const addAlertCommand = (context: Context) => {
  const [key, model, provider] = filterOptions();
  return new Command('add')
    .argument('<name>', 'a name of your choice', ownName)
    .addArgument(new Argument('<kind>', 'what it watches').choices(alertKinds))
    .argument('[threshold]', 'when it fires: dollars, percent, time or calls, like 5, 5%, 8s', threshold)
    .option('--window <time>', 'over the last 15m to 7d', minutes, 60)
    .addOption(key as Option<'--key <key>'>)
    .addOption(model as Option<'--model <model>'>)
    .addOption(provider as Option<'--provider <provider>'>)
    .option(...minCalls)
    .option(...webhook)
    .addOption(webhookFormat())
    .option('--preview', 'show on which of the last 7 days it would have fired, and add nothing')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway alerts add slow p95_total 8s --window 1h --model openai/gpt-5'))
    .action(async (id, kind, limit, flags) => {
      const workspace = await resolveWorkspace(context, flags.workspace);
      const condition: AlertCondition = {
        kind,
        window_minutes: flags.window,
        threshold: limit === undefined ? null : thresholdOf(kind, limit),
        min_calls: flags.minCalls ?? null,
        key: flags.key === undefined ? null : await resolveKey(context, { key: flags.key, workspace }),
        model: flags.model ?? null,
        provider: flags.provider ?? null,
      };
      if (flags.preview) return await showPreview(context, workspace, condition);
      const params = { workspace, id };
      if (await existing(context, params)) {
        throw usageError(`There is an alert ${id} already.`, `Change it with: gateway alerts update ${id}`);
      }
      const url = await webhookUrl(context, flags.webhook);
      await save(context, params, {
        ...condition,
        ...(url !== undefined && { webhook_url: url }),
        ...formatOf(flags.webhookFormat),
      });
    });
};

export const updateAlertCommand = (context: Context) =>
  new Command('update')
    .argument('<alert>', 'the alert')
    .option('--threshold <amount>', 'when it fires', threshold)
    .option('--window <time>', 'over the last 15m to 7d', minutes)
    .option(...minCalls)
    .option(...webhook)
    .addOption(webhookFormat())
    .addOption(new Option('--no-webhook', 'send no more messages').conflicts('newSecret'))
    .option('--new-secret', 'replace the secret that signs messages')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway alerts update slow --threshold 12s'))
    .action(async (id, flags) => {
      const params = { workspace: await resolveWorkspace(context, flags.workspace), id };
      const before = await context.client().call(getAlert, { params });
      const url = flags.webhook === false ? null : await webhookUrl(context, textOf(flags.webhook));
      await save(context, params, {
        ...conditionOf(before),
        ...(flags.threshold && { threshold: thresholdOf(before.kind, flags.threshold) }),
        ...(flags.window !== undefined && { window_minutes: flags.window }),
        ...(flags.minCalls !== undefined && { min_calls: flags.minCalls }),
        ...(url !== undefined && { webhook_url: url }),
        ...formatOf(flags.webhookFormat),
        ...(flags.newSecret && { new_secret: true }),
      });
    });

export const listAlertsCommand = (context: Context) =>
  new Command('list')
    .option(...ofWorkspace)
    .addHelpText('after', example(`gateway alerts list --jq '.[] | select(.state == "firing") | .id'`))
    .action(async ({ workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const { data } = await context.client().call(listAlerts, { params });
      const empty = 'No alerts yet: gateway alerts add <name> error_share 5%';
      await context.out.table(data, alertColumns(context), { empty });
    });

export const showAlertCommand = (context: Context) =>
  new Command('show')
    .argument('<alert>', 'the alert')
    .option('--preview', 'show on which of the last 7 days it would have fired')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway alerts show slow --preview'))
    .action(async (id, { workspace: name, preview }) => {
      const workspace = await resolveWorkspace(context, name);
      const alert = await context.client().call(getAlert, { params: { workspace, id } });
      if (preview) return await showPreview(context, workspace, conditionOf(alert));
      const columns = alertColumns(context);
      await context.out.record(alert, columns, { pipedRow: columns });
    });

export const removeAlertCommand = (context: Context) =>
  new Command('remove')
    .argument('<alert>', 'the alert')
    .addOption(yesOption())
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway alerts remove slow --yes'))
    .action(async (id, { workspace, yes }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), id };
      const find = async () => void (await context.client().call(getAlert, { params }));
      await confirm(context, `Remove the alert ${id}?`, { yes, find });
      const removed = await context.client().call(deleteAlert, { params });
      return context.out.done(removed, `Removed the alert ${id}.`);
    });

export const testAlertCommand = (context: Context) =>
  new Command('test')
    .argument('<alert>', 'an alert with a web hook')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway alerts test slow'))
    .action(async (id, { workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), id };
      const delivery = await context.client().call(testAlert, { params });
      if (delivery.state !== 'delivered') context.exit = exitCodes.tryLater;
      const text = `The test message was not accepted yet. ${delivery.failure ?? ''}`.trim();
      await context.out.done(
        delivery,
        delivery.state === 'delivered' ? 'The test message was accepted.' : text,
      );
    });

export const firedAlertsCommand = (context: Context) =>
  new Command('fired')
    .argument('[alert]', 'only of this alert')
    .addOption(new Option('--open', 'only those that still fire'))
    .option('--limit <number>', 'how many', wholeNumber({ min: 1, max: 100 }), 20)
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway alerts fired --open'))
    .action(async (alert, { open, limit, workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const query = { alert, limit, ...(open && { open }) };
      const { data } = await context.client().call(listFirings, { params, query });
      await context.out.table(data, firingColumns(context.now()), { empty: 'No alert has fired.' });
    });

async function save(
  context: Context,
  params: { workspace: string; id: string },
  body: AlertSettings,
): Promise<void> {
  const saved = await context.client().call(putAlert, { params, body });
  const secret: Column<typeof saved> = { title: 'webhook_secret', value: (alert) => alert.webhook_secret };
  const columns = [...alertColumns(context), ...(saved.webhook_secret === null ? [] : [secret])];
  await context.out.record(saved, columns, { pipedRow: columns, shownOnce: secret });
  if (saved.webhook_secret !== null)
    context.out.note(
      `The secret is not shown again. Try the web hook with: gateway alerts test ${params.id}`,
    );
}

async function showPreview(context: Context, workspace: string, body: AlertCondition): Promise<void> {
  const { days } = await context.client().call(previewAlert, { params: { workspace }, body });
  await context.out.table(days, dayColumns(body.kind), { empty: 'Nothing is known of the last days.' });
}

async function existing(
  context: Context,
  params: { workspace: string; id: string },
): Promise<Alert | undefined> {
  return await context
    .client()
    .call(getAlert, { params })
    .catch((error: unknown) => {
      if (error instanceof ReceivedError && error.code === 'not_found') return undefined;
      throw error;
    });
}

function conditionOf(alert: Alert): AlertCondition {
  const { kind, window_minutes, threshold: limit, min_calls, key, model, provider } = alert;
  return { kind, window_minutes, threshold: limit, min_calls, key, model, provider };
}

const textOf = (flag: string | boolean | undefined) => (typeof flag === 'string' ? flag : undefined);

/** An address may have a secret in its path, which other users could read in an argument. */
async function webhookUrl(context: Context, flag: string | undefined): Promise<string | undefined> {
  if (flag !== '-') return flag;
  return (await pipedText(context, typedStdin)).trim();
}

interface Threshold {
  number: string;
  unit: AlertUnit | undefined;
}

const thresholdUnits: Readonly<Record<string, AlertUnit>> = { $: 'usd', '%': 'percent', s: 'ms', ms: 'ms' };

/** `$5`, `5%`, `8s` and `800ms` as the API writes them. */
function threshold(text: string): Threshold {
  const [, dollar, number, suffix] = /^(\$)?(\d{1,7}(?:\.\d{1,9})?)(%|s|ms)?$/.exec(text) ?? [];
  if (number === undefined || (dollar !== undefined && suffix !== undefined))
    throw new InvalidArgumentError('It must be a number like 5, $5, 5%, 8s or 800ms.');
  const unit = thresholdUnits[dollar ?? suffix ?? ''];
  return { number: suffix === 's' ? String(Math.round(Number(number) * 1000)) : number, unit };
}

/** The number of a threshold, whose unit has to be that of the kind if it is given. */
function thresholdOf(kind: AlertKind, { number, unit }: Threshold): string {
  const expected = alertUnits[kind];
  if (expected === null) throw usageError(`An alert on ${kind} has no threshold.`, 'Leave it out.');
  // 8 is meant as seconds, and 0.05 as a share: as 8 ms and 0.05 % they would fire at every call.
  const isAmbiguous = expected === 'ms' || (expected === 'percent' && Number(number) < 1);
  if (unit === undefined && isAmbiguous)
    throw new CliError(`The threshold of ${kind} needs a unit.`, {
      exit: exitCodes.usage,
      next: expected === 'ms' ? `Write ${number}s or ${number}ms.` : 'Write a percentage, like 5% or 0.05%.',
    });
  if (unit === undefined || unit === expected) return number;
  const message = `The threshold of ${kind} is in ${unitNames[expected]}.`;
  throw new CliError(message, {
    exit: exitCodes.usage,
    next: `Try: ${number}${expected === 'ms' ? 's' : ''}`,
  });
}

const unitNames = { usd: 'dollars', percent: 'percent', ms: 'milliseconds or seconds', calls: 'calls' };

const alertColumns = ({ now }: Context): Column<Alert>[] => [
  ...alertFields.map((field) => listColumn(field, { now: now(), keyNames: new Map() })),
  {
    title: 'min_calls',
    label: 'min calls',
    value: (alert) => (isOfManyCalls(alert.kind) ? alert.min_calls : null),
    show: (alert) => (isOfManyCalls(alert.kind) ? String(alert.min_calls) : '–'),
    isSpare: true,
  },
  {
    title: 'webhook',
    value: (alert) => alert.webhook?.origin ?? null,
    show: ({ webhook: hook }) =>
      hook === null
        ? 'none'
        : [hook.origin, hook.format, hook.last_delivery?.state].filter((part) => part).join(' '),
    style: ({ webhook: hook }) => (hook?.last_delivery?.state === 'failed' ? 'yellow' : undefined),
    isSpare: true,
  },
  { title: 'message', value: (alert) => alert.message, show: (alert) => alert.message ?? '–', isSpare: true },
];

const firingColumns = (now: number): Column<AlertFiring>[] => [
  {
    title: 'fired_at',
    label: 'fired',
    value: (firing) => firing.fired_at,
    show: (firing) => shortTime(firing.fired_at, now),
  },
  {
    title: 'resolved_at',
    label: 'lasted',
    value: (firing) => firing.resolved_at,
    show: ({ fired_at, resolved_at }) =>
      resolved_at === null ? 'still' : duration(Date.parse(resolved_at) - Date.parse(fired_at)),
    style: (firing) => (firing.resolved_at === null ? 'red' : undefined),
  },
  { title: 'alert', value: (firing) => firing.alert },
  {
    title: 'value',
    value: (firing) => firing.value,
    show: (firing) => alertValue(firing.value, alertUnits[firing.kind]),
  },
  { title: 'message', value: (firing) => firing.message },
];

const dayColumns = (kind: AlertKind): Column<AlertPreview['days'][number]>[] => [
  { title: 'day', value: ({ day }) => day },
  {
    title: 'firings',
    label: 'fired',
    value: ({ firings }) => firings,
    style: ({ firings }) => (firings > 0 ? 'red' : 'dim'),
    align: 'right',
  },
  {
    title: 'first_at',
    label: 'first',
    value: (day) => day.first_at,
    show: (day) => (day.first_at === null ? '-' : dayAndClock(day.first_at)),
  },
  {
    title: 'peak',
    label: kind === 'silence' ? 'fewest calls' : 'peak',
    value: ({ peak }) => peak,
    show: ({ peak }) => alertValue(peak, alertUnits[kind]),
    align: 'right',
  },
];
