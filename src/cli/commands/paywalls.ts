import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { AuthScheme, ExportFormat, Paywall, PaywallMethod } from '../../shared/contract/paywalls.ts';
import {
  createPaywall,
  deletePaywall,
  exportPaywalls,
  getPaywall,
  listPaywalls,
  updatePaywall,
} from '../../shared/endpoints.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { ago, span } from '../../view/durations.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import type { Style } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
] as const satisfies PaywallMethod[];
const formats = ['caddy', 'nginx', 'aperture'] as const satisfies ExportFormat[];
const authSchemes = ['l402', 'mpp', 'l402+mpp'] as const satisfies AuthScheme[];
const reference = 'the name or id of one of your paywalls';

export const createPaywallCommand = (context: Context) =>
  new Command('create')
    .requiredOption('--upstream <url>', 'the web server to protect: http://127.0.0.1:9000')
    .requiredOption('--price <sats>', 'what a payment costs, in satoshis', wholeNumber({ min: 1 }))
    .option('--name <name>', 'lowercase letters, digits and - (default: from the path or the upstream)')
    .option('--path <prefix>', 'only this path and those below it: /weather (default: /)')
    .option('--rewrite <prefix>', 'what replaces --path in requests to the upstream; / removes it')
    .option('--match-host <name>', 'only requests to this host name')
    .addOption(new Option('--method <method...>', 'only requests with these methods').choices(methods))
    .addOption(
      new Option('--auth-scheme <scheme>', 'how clients can prove a payment (default: l402+mpp)').choices(
        authSchemes,
      ),
    )
    .option('--uses <number>', 'how many requests a payment buys, or unlimited (default: 1)', usesIn)
    .option('--expires <seconds>', 'how long a payment is valid (default: 3600)', wholeNumber({ min: 1 }))
    .option('--free-path <path...>', 'paths that cost nothing: /health, or /docs/*')
    .option('--free-per-day <number>', 'free requests a day for each client', wholeNumber({ min: 0 }))
    .option('--rate <number>', 'requests per second for each client', wholeNumber({ min: 1 }))
    .option(
      '--allow-origin <origin...>',
      "origins whose web pages may buy: https://app.example, or '*' for any",
    )
    .addHelpText('after', example('gateway paywalls create --upstream http://127.0.0.1:9000 --price 10'))
    .action(async (flags) => {
      const { data } = await context.client().call(createPaywall, { headers: {}, body: bodyOf(flags) });
      await context.out.record(data, paywallRecord(context.now()));
      warnOfProxy(context, data);
    });

interface CreateFlags {
  upstream: string;
  price: number;
  name?: string | undefined;
  path?: string | undefined;
  rewrite?: string | undefined;
  matchHost?: string | undefined;
  method?: PaywallMethod[] | undefined;
  authScheme?: AuthScheme | undefined;
  uses?: number | 'unlimited' | undefined;
  expires?: number | undefined;
  freePath?: string[] | undefined;
  freePerDay?: number | undefined;
  rate?: number | undefined;
  allowOrigin?: string[] | undefined;
}

function bodyOf(flags: CreateFlags) {
  const {
    upstream,
    price,
    name,
    path,
    rewrite,
    matchHost,
    method,
    authScheme,
    uses,
    expires,
    freePath,
    freePerDay,
    rate,
    allowOrigin,
  } = flags;
  return {
    ...(name !== undefined && { name }),
    priceSats: price,
    upstream: { url: upstream, ...(rewrite !== undefined && { rewritePrefix: rewrite }) },
    match: {
      ...(path !== undefined && { pathPrefix: path }),
      ...(matchHost !== undefined && { host: matchHost }),
      ...(method !== undefined && { methods: method }),
    },
    ...(authScheme !== undefined && { authScheme }),
    token: {
      ...(uses !== undefined && { maxUses: uses === 'unlimited' ? null : uses }),
      ...(expires !== undefined && { timeoutSeconds: expires }),
    },
    ...(freePath !== undefined && { freePaths: freePath }),
    ...(freePerDay !== undefined && { freeRequestsPerDay: freePerDay }),
    ...(rate !== undefined && { rateLimit: { requests: rate } }),
    ...(allowOrigin !== undefined && { allowedOrigins: allowOrigin }),
  };
}

/** A number of uses. Commander turns null into an empty text, so that any number has a name. */
function usesIn(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1, or unlimited.');
}

/** A paywall that no proxy serves does not protect anything yet. */
function warnOfProxy(context: Context, { proxy }: Paywall): void {
  if (proxy.state === 'applied') return;
  context.out.warn(
    proxy.lastError === null
      ? 'A proxy is not configured yet; the daemon tries again every minute.'
      : `A proxy could not be configured; the daemon tries again every minute. ${proxy.lastError}`,
  );
}

export const listPaywallsCommand = (context: Context) =>
  new Command('list')
    .addOption(
      new Option('--status <status>', 'only paywalls with this status').choices([
        'active',
        'paused',
        'deleted',
      ] as const),
    )
    .option('--limit <number>', 'how many, at most 200 (default: 50)', wholeNumber({ min: 1, max: 200 }))
    .option('--before <paywall-id>', 'only those created before this one')
    .addHelpText('after', example('gateway paywalls list --json=name,priceSats,stats'))
    .action(async ({ status, limit, before }) => {
      const query = { status, limit, before_id: before };
      const { data } = await context.client().call(listPaywalls, { query });
      await context.out.table(data, listColumns, {
        empty:
          'No paywalls yet. Create one: gateway paywalls create --upstream http://127.0.0.1:9000 --price 10',
      });
    });

export const showPaywallCommand = (context: Context) =>
  new Command('show')
    .argument('<paywall>', reference)
    .addHelpText('after', example('gateway paywalls show weather'))
    .action(async (paywallId) => {
      const { data } = await context.client().call(getPaywall, { params: { paywallId } });
      await context.out.record(data, paywallRecord(context.now()));
    });

export const pausePaywallCommand = (context: Context) =>
  new Command('pause')
    .argument('<paywall>', reference)
    .addHelpText('after', example('gateway paywalls pause weather'))
    .action((paywall) => setStatus(context, paywall, 'paused'));

export const resumePaywallCommand = (context: Context) =>
  new Command('resume')
    .argument('<paywall>', reference)
    .addHelpText('after', example('gateway paywalls resume weather'))
    .action((paywall) => setStatus(context, paywall, 'active'));

async function setStatus(context: Context, paywallId: string, status: 'active' | 'paused'): Promise<void> {
  const { data } = await context.client().call(updatePaywall, { params: { paywallId }, body: { status } });
  if (context.out.wantsJson()) return context.out.document(data);
  context.out.note(status === 'paused' ? `Paused ${data.name}.` : `Resumed ${data.name}.`);
  warnOfProxy(context, data);
}

export const deletePaywallCommand = (context: Context) =>
  new Command('delete')
    .argument('<paywall>', reference)
    .addOption(yesOption())
    .addHelpText('after', example('gateway paywalls delete weather --yes'))
    .action(async (paywallId, { yes }) => {
      const client = context.client();
      const find = () => client.call(getPaywall, { params: { paywallId } });
      await confirm(context, `Delete ${paywallId}? Tokens that were paid stop working.`, { yes, find });
      const { data } = await client.call(deletePaywall, { params: { paywallId } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.out.note(`Deleted ${data.name}.`);
      warnOfProxy(context, data);
    });

export const exportPaywallsCommand = (context: Context) =>
  new Command('export')
    .addOption(
      new Option('--format <format>', 'the proxy to configure').choices(formats).makeOptionMandatory(),
    )
    .addHelpText('after', example('gateway paywalls export --format nginx > paywalls.conf'))
    .action(async ({ format }) => {
      const { data } = await context.client().call(exportPaywalls, { query: { format } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.io.stdout.write(data.text);
    });

const statusStyles: Record<Paywall['status'], Style> = { active: 'green', paused: 'yellow', deleted: 'dim' };
const proxyStyles: Record<Paywall['proxy']['state'], Style> = {
  applied: 'green',
  pending: 'yellow',
  failed: 'red',
};

const name: Column<Paywall> = { title: 'name', value: (paywall) => paywall.name };
const status: Column<Paywall> = {
  title: 'status',
  value: (paywall) => paywall.status,
  style: (paywall) => statusStyles[paywall.status],
};
const price: Column<Paywall> = {
  title: 'price_msats',
  label: 'price',
  value: ({ priceSats }) => priceSats * 1000,
  show: ({ priceSats }) => bitcoin(priceSats * 1000),
  align: 'right',
};
const url: Column<Paywall> = { title: 'url', value: (paywall) => paywall.url, essential: true };
const upstream: Column<Paywall> = { title: 'upstream', value: (paywall) => paywall.upstream.url };
const revenue: Column<Paywall> = {
  title: 'revenue_msats',
  label: 'revenue',
  value: ({ stats }) => stats.revenueMsats,
  show: ({ stats }) => bitcoin(stats.revenueMsats),
  align: 'right',
};
const paid: Column<Paywall> = {
  title: 'paid',
  value: ({ stats }) => stats.paid,
  show: ({ stats }) => `${count(stats.paid)} of ${count(stats.challenges)}`,
  align: 'right',
};
const proxy: Column<Paywall> = {
  title: 'proxy',
  value: (paywall) => paywall.proxy.state,
  show: (paywall) => [paywall.proxy.state, paywall.proxy.lastError].filter((part) => part).join(': '),
  style: (paywall) => proxyStyles[paywall.proxy.state],
};

/** All facts of a paywall, for records. */
export const paywallRecord = (now: number): Column<Paywall>[] => [
  { title: 'id', value: ({ id }) => id },
  name,
  status,
  url,
  upstream,
  price,
  {
    title: 'buys',
    value: ({ token }) => token.maxUses,
    show: ({ token: { maxUses, timeoutSeconds } }) =>
      `${maxUses === null ? 'any requests' : maxUses === 1 ? 'one request' : `${count(maxUses)} requests`} within ${span(timeoutSeconds * 1000)}`,
  },
  { title: 'auth_scheme', label: 'paid by', value: ({ authScheme }) => authScheme },
  {
    title: 'methods',
    value: ({ match }) => match.methods.join(' '),
    show: ({ match }) => match.methods.join(' ') || 'all',
  },
  {
    title: 'free_paths',
    label: 'free',
    value: ({ freePaths }) => freePaths.join(' '),
    show: ({ freePaths }) => freePaths.join(' ') || 'none',
  },
  {
    title: 'allowed_origins',
    label: 'pages of',
    value: ({ allowedOrigins }) => allowedOrigins.join(' '),
    show: ({ allowedOrigins }) => allowedOrigins.join(' ') || 'no origin',
  },
  paid,
  revenue,
  proxy,
  { title: 'created', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
];

const listColumns: Column<Paywall>[] = [
  { ...name, essential: true },
  status,
  price,
  paid,
  revenue,
  { ...proxy, show: (paywall) => paywall.proxy.state },
  url,
  { ...upstream, isSpare: true },
];
