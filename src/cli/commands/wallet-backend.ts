import { resolve } from 'node:path';
import { Argument, Command, Option } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type {
  fundWallet as fundWalletContract,
  WalletBackendStatus,
} from '../../shared/contract/wallet-backend.ts';
import {
  checkWalletBackend,
  deleteWalletSecret,
  fundWallet,
  getWalletBackend,
  putWalletSecret,
  trustNode,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { backendFacts, connectedBackends, lightningNetworks } from '../../shared/payments/wallet-backends.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { askSecret, confirm } from '../terminal/prompts.ts';
import { configError, configLocation, runningDaemon } from './config.ts';

export const connectWalletCommand = (context: Context) =>
  new Command('connect')
    .description('Reads its secret from a hidden prompt, or piped in, and seals it in the vault.')
    .addArgument(new Argument('<backend>', 'the kind of node').choices(connectedBackends))
    .option('--url <url>', 'where its API listens')
    .option('--certificate <file>', 'the certificate to trust, in PEM')
    .addOption(new Option('--network <network>', 'the network of the node').choices(lightningNetworks))
    .option('--from-env <name>', 'read the secret from this environment variable')
    .option('--force', 'connect it even if it cannot be used now')
    .addHelpText('after', example('gateway wallet connect phoenixd'))
    .action(async (backend, { url, certificate, network, fromEnv, force }) => {
      const { title, secret: what } = backendFacts[backend];
      const secret = await askSecret(context, { prompt: `${title}: ${what}`, fromEnv });
      if (!force) {
        const terms = {
          backend,
          secret,
          ...(url !== undefined && { url }),
          ...(certificate !== undefined && { certificate_file: resolve(certificate) }),
          ...(network !== undefined && { network }),
        };
        const { state, problems } = await context.client().call(checkWalletBackend, { body: terms });
        if (state === 'unavailable') {
          throw new CliError(`Not connected: ${problems.join(' ')}`, {
            exit: exitCodes.tryLater,
            next: 'Fix that, or connect it anyway: --force',
          });
        }
      }
      const { backend: current } = await context.client().call(getWalletBackend, {});
      await context.client().call(putWalletSecret, { params: { backend }, body: { secret } });
      const given = {
        'wallet.url': url,
        'wallet.certificate_file': certificate && resolve(certificate),
        'wallet.network': network,
      };
      // What is not given stays as it is, unless it is for another kind of node.
      await configure(context, {
        ...(current === backend ? withoutUndefined(given) : { ...nodeSettings, ...given }),
        // It would be used instead of the secret in the vault.
        'wallet.secret_file': undefined,
        'wallet.backend': backend,
      });
      await showBackend(context);
      context.out.note('Each user creates a wallet for it: gateway wallet create');
    });

export const disconnectWalletCommand = (context: Context) =>
  new Command('disconnect')
    .description('The wallets of the node remain, and can be used again once it is connected again.')
    .addOption(yesOption())
    .addHelpText('after', example('gateway wallet disconnect --yes'))
    .action(async ({ yes }) => {
      const { backend } = await context.client().call(getWalletBackend, {});
      const connected = connectedBackends.find((name) => name === backend);
      if (connected === undefined) return context.out.note('No Lightning node is connected.');
      await confirm(context, `Disconnect ${connected} and delete its secret from the vault?`, { yes });
      await configure(context, { 'wallet.backend': undefined, ...nodeSettings });
      await context.client().call(deleteWalletSecret, { params: { backend: connected } });
      await showBackend(context);
    });

export const walletBackendCommand = (context: Context) =>
  new Command('backend')
    .addHelpText('after', example('gateway wallet backend --json=state,problems'))
    .action(() => showBackend(context));

export const trustNodeCommand = (context: Context) =>
  new Command('trust-node')
    .description(
      'Wallets are only used with the node that holds their money. Payments of another one are not known to it.',
    )
    .argument('<node>', 'the public key of the node, as `gateway wallet backend` shows it')
    .addOption(yesOption())
    .addHelpText('after', example('gateway wallet trust-node 03ab… --yes'))
    .action(async (node, { yes }) => {
      await confirm(context, `Trust ${node} with the money of all wallets of this back end?`, { yes });
      await showStatus(context, await context.client().call(trustNode, { body: { node_id: node } }));
    });

export const fundWalletCommand = (context: Context) =>
  new Command('fund')
    .description('Only for the owner of the host. Nothing is sent: the ledger notes whose money it is.')
    .requiredOption('--sats <number>', 'how many satoshis to add', wholeNumber({ min: 1 }))
    .addHelpText('after', example('gateway wallet fund --sats 50000'))
    .action(async ({ sats }) => {
      const funded = await context.client().call(fundWallet, { body: { amount_sats: sats } });
      await context.out.record(funded, fundedColumns);
    });

/** The settings that belong to one node, for all of them to be removed. */
const nodeSettings = {
  'wallet.url': undefined,
  'wallet.certificate_file': undefined,
  'wallet.network': undefined,
  'wallet.secret_file': undefined,
};

function withoutUndefined(settings: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/**
 * Writes settings of this machine's daemon, removes those that are undefined, and reloads it. For another host, prints the
 * commands to run there.
 */
async function configure(context: Context, settings: Record<string, string | undefined>): Promise<void> {
  const changes = Object.entries(settings);
  if (!context.host().isLocal) {
    const lines = changes.map(([name, value]) =>
      value === undefined ? `  gateway config unset ${name}` : `  gateway config set ${name} ${value}`,
    );
    return context.out.note(['Configure it on the host:', ...lines].join('\n'));
  }
  const tools = await (await context.daemon()).loadConfigTools();
  const running = await runningDaemon(context);
  const place = configLocation(context, running?.file);
  const isKnownModel = undefined;
  for (const [name, value] of changes) {
    const outcome = await tools.set(place, { name, value, isKnownModel });
    if ('faults' in outcome) throw configError(outcome.faults, 'The secret is stored; the settings are not.');
  }
  const reloaded = await running?.reload('wallet');
  context.out.note(`Written to ${tools.path(place)}.${reloaded?.sentence ?? ''}`);
}

async function showBackend(context: Context): Promise<void> {
  await showStatus(context, await context.client().call(getWalletBackend, {}));
}

async function showStatus(context: Context, status: WalletBackendStatus): Promise<void> {
  await context.out.record(status, columns);
  for (const problem of status.problems) context.out.warn(problem);
  if (status.state === 'unavailable') context.exit = exitCodes.tryLater;
}

const colours = { ready: 'green', limited: 'yellow', unavailable: 'red', unknown: 'yellow' } as const;

const columns: Column<WalletBackendStatus>[] = [
  { title: 'backend', value: ({ backend }) => backend },
  { title: 'state', value: ({ state }) => state, style: ({ state }) => colours[state] },
  { title: 'network', value: ({ network }) => network },
  { title: 'node', value: (status) => status.node_id, show: (status) => status.node_id ?? '–' },
  {
    title: 'balance_msats',
    label: 'can send',
    value: (status) => status.balance_msats,
    show: (status) => (status.balance_msats === null ? '–' : bitcoin(status.balance_msats)),
  },
  {
    title: 'owed_msats',
    label: 'held by wallets',
    value: (status) => status.owed_msats,
    show: (status) => bitcoin(status.owed_msats),
  },
  { title: 'secret', value: ({ secret }) => secret, show: ({ secret }) => secret ?? 'none' },
];

const fundedColumns: Column<Result<typeof fundWalletContract>>[] = [
  {
    title: 'balance_msats',
    label: 'balance',
    value: (funded) => funded.balance_msats,
    show: (funded) => bitcoin(funded.balance_msats),
  },
  { title: 'wallet', value: (funded) => funded.wallet_id },
];
