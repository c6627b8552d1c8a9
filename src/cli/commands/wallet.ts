import { Command } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type {
  createWallet as createWalletContract,
  getBalance as getBalanceContract,
  showPhrase as showPhraseContract,
  Wallet,
} from '../../shared/contract/wallet.ts';
import { createWallet, getBalance, showPhrase, useFaucet } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, wholeNumber } from '../options.ts';
import type { Column } from '../output/table.ts';
import { askSecret } from '../terminal/prompts.ts';

type Made = Result<typeof createWalletContract>['data'];

export const createWalletCommand = (context: Context) =>
  new Command('create').addHelpText('after', example('gateway wallet create')).action(async () => {
    const { data } = await context.client().call(createWallet, { body: {} });
    const { mnemonic } = data;
    if (mnemonic === undefined) {
      await context.out.record(data, madeColumns);
      return context.out.note('You had this wallet already.');
    }
    await context.out.record(data, [...madeColumns, words]);
    context.out.note(wordsNote);
    if (data.wallet.backend === 'embedded')
      context.out.note(
        'It holds play money, for payments within this host: gateway wallet faucet --sats 10000',
      );
  });

/** What recovery phrases are for. */
const wordsNote = [
  'Write the words down. They are the identity of the wallet, its node id, also in wallets based on LDK.',
  'They do not hold the money: the balance is in the data of this host, which gateway backup saves.',
].join('\n');

export const phraseCommand = (context: Context) =>
  new Command('phrase')
    .description('For logins; the vault has to be open.')
    .addHelpText('after', example('gateway wallet phrase'))
    .action(async () => {
      const { data } = await context.client().call(showPhrase, {}).catch(orNoWallet);
      await context.out.record(data, phraseColumns);
      context.out.note(wordsNote);
    });

const phraseColumns: Column<Result<typeof showPhraseContract>['data']>[] = [
  { title: 'words', value: ({ mnemonic }) => mnemonic, style: () => 'bold', essential: true },
  { title: 'wallet', value: ({ walletId }) => walletId },
];

export const importWalletCommand = (context: Context) =>
  new Command('import')
    .description('Reads the recovery phrase from a hidden prompt, or piped in.')
    .option('--from-env <name>', 'read the phrase from this environment variable')
    .addHelpText('after', example('gateway wallet import < phrase.txt'))
    .action(async ({ fromEnv }) => {
      const mnemonic = await askSecret(context, { prompt: 'Recovery phrase', fromEnv });
      const { data } = await context.client().call(createWallet, { body: { mnemonic } });
      await context.out.record(data, madeColumns);
      const { backend, balanceMsats, pendingMsats } = data.wallet;
      if (backend === 'embedded' || balanceMsats + pendingMsats > 0) return;
      context.out.note(importedNote);
    });

/** A wallet that is new to the host is empty, whatever it had with the same node before. */
const importedNote = [
  'It is empty. The owner of the host can book what the node says it received and paid before:',
  '  gateway wallet reconcile --since 30d',
].join('\n');

const madeColumns: Column<Made>[] = [
  { title: 'id', value: ({ wallet }) => wallet.id },
  { title: 'node', value: ({ wallet }) => wallet.identityPubkey },
  { title: 'backend', value: ({ wallet }) => wallet.backend },
  {
    title: 'balance_msats',
    label: 'balance',
    value: ({ wallet }) => wallet.balanceMsats,
    show: ({ wallet }) => bitcoin(wallet.balanceMsats),
  },
];

const words: Column<Made> = {
  title: 'words',
  value: ({ mnemonic }) => mnemonic,
  style: () => 'bold',
  essential: true,
};

export const balanceCommand = (context: Context) =>
  new Command('balance')
    .addHelpText('after', example('gateway wallet balance --json=balanceSats'))
    .action(async () => {
      const { data } = await context.client().call(getBalance, {}).catch(orNoWallet);
      await context.out.record(data, balanceColumns);
      if (data.problem) context.out.warn(data.problem);
    });

function orNoWallet(error: unknown): never {
  if (!(error instanceof ReceivedError) || error.code !== 'not_found') throw error;
  throw new CliError('You have no wallet yet.', {
    exit: exitCodes.failed,
    next: 'Create one: gateway wallet create',
  });
}

const balanceColumns: Column<Result<typeof getBalanceContract>['data']>[] = [
  {
    title: 'balance_msats',
    label: 'balance',
    value: ({ balanceMsats }) => balanceMsats,
    show: ({ balanceMsats }) => bitcoin(balanceMsats),
    style: () => 'bold',
  },
  {
    title: 'pending_msats',
    label: 'pending',
    value: ({ pendingMsats }) => pendingMsats,
    show: ({ pendingMsats }) => bitcoin(pendingMsats),
  },
  { title: 'backend', value: ({ backend }) => backend },
  { title: 'network', value: ({ network }) => network },
  { title: 'wallet', value: ({ walletId }) => walletId },
  { title: 'node', value: ({ identityPubkey }) => identityPubkey },
];

export const faucetCommand = (context: Context) =>
  new Command('faucet')
    .description('Only for the owner of a local daemon without a Lightning back end.')
    .requiredOption('--sats <number>', 'how many satoshis to add', wholeNumber({ min: 1 }))
    .addHelpText('after', example('gateway wallet faucet --sats 10000'))
    .action(async ({ sats: amountSats }) => {
      const { data } = await context.client().call(useFaucet, { body: { amountSats } });
      await context.out.record(data.wallet, filledColumns);
    });

const filledColumns: Column<Wallet>[] = [
  {
    title: 'balance_msats',
    label: 'balance',
    value: ({ balanceMsats }) => balanceMsats,
    show: ({ balanceMsats }) => bitcoin(balanceMsats),
  },
  { title: 'wallet', value: ({ id }) => id },
];
