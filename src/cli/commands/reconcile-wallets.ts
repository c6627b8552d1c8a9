import { Command } from '@commander-js/extra-typings';
import type { WalletReconciliation } from '../../shared/contract/wallet-backend.ts';
import { reconcileWallets } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { pastTime, pastTimeHelp } from '../times.ts';

export const reconcileWalletsCommand = (context: Context) =>
  new Command('reconcile')
    .description(
      'Only for the owner of the host. After gateway restore, wallets of a Lightning node pay nothing until the node has explained what it paid and received since the backup. The daemon asks it by itself; this command asks now, and shows what is left.',
    )
    .option('--assign <hashes>', 'book these payments or receipts, or `all` payments; separated by commas')
    .option('--to <wallet>', 'with --assign: whose they are')
    .option('--accept', 'let the wallets pay again, and leave the rest to the node')
    .option(
      '--since <time>',
      `compare again from this time on, as after another kind of restore: ${pastTimeHelp}`,
      pastTime(context),
    )
    .addOption(yesOption())
    .addHelpText('after', example('gateway wallet reconcile --assign all --to wal_01jd…'))
    .action(async ({ assign, to, accept, since, yes }) => {
      if ((assign === undefined) !== (to === undefined))
        throw new CliError('--assign and --to belong together.', { exit: exitCodes.usage });
      const call = (body: Parameters<typeof reconcile>[1]) => reconcile(context, body);
      const hashes = assign === 'all' ? paymentsIn(await call({})) : (assign?.split(',') ?? []);
      if (accept)
        await confirm(context, 'Let the wallets pay, and leave what is unexplained to the node?', { yes });
      if (since !== undefined)
        await confirm(context, 'Compare all wallets with the node? They pay nothing meanwhile.', { yes });
      const report = await call({
        ...(since !== undefined && { since: new Date(since).toISOString() }),
        ...(to !== undefined && { assign: hashes.map((payment_hash) => ({ payment_hash, wallet: to })) }),
        ...(accept && { accept }),
      });
      await show(context, report);
    });

function reconcile(
  context: Context,
  body: {
    since?: string;
    assign?: { payment_hash: string; wallet: string }[];
    accept?: boolean;
  },
): Promise<WalletReconciliation> {
  return context.client().call(reconcileWallets, { body });
}

function paymentsIn({ unexplained }: WalletReconciliation): string[] {
  return unexplained
    .filter(({ kind, wallet, reason }) => kind === 'payment' && wallet === null && reason !== 'in_flight')
    .map(({ payment_hash }) => payment_hash);
}

async function show(context: Context, report: WalletReconciliation): Promise<void> {
  const { out } = context;
  await out.record(report, columns);
  for (const problem of report.problems) out.warn(problem);
  for (const each of report.unexplained) out.note(sentenceOf(each));
  const hidden = report.unexplained_count - report.unexplained.length;
  if (hidden > 0) out.note(`And ${hidden} more: --json shows 200.`);
  if (report.state !== 'open') return;
  out.note('Wallets pay nothing until this is explained. Say whose a payment is: --assign HASH --to WALLET');
  out.note('Or let them pay, and leave the rest to the node: --accept');
  context.exit = exitCodes.tryLater;
}

const reasons: Record<WalletReconciliation['unexplained'][number]['reason'], string> = {
  unknown_wallet: 'of an unknown wallet',
  in_flight: 'has not ended',
  not_covered: 'is not covered',
};

function sentenceOf(each: WalletReconciliation['unexplained'][number]): string {
  const {
    kind,
    payment_hash: hash,
    amount_msats: amount,
    fee_msats: fee,
    at,
    wallet,
    reason,
    description,
  } = each;
  const whose = wallet === null ? reasons[reason] : `${reasons[reason]}, ${wallet}`;
  const what = description === null || description === '' ? '' : `, “${description}”`;
  return `${kind} of ${bitcoin(amount + fee)}, ${at}, ${whose}${what}: ${hash}`;
}

const columns: Column<WalletReconciliation>[] = [
  {
    title: 'state',
    value: ({ state }) => state,
    style: ({ state }) => (state === 'open' ? 'yellow' : 'green'),
  },
  { title: 'backend', value: ({ backend }) => backend },
  { title: 'since', label: 'backup of', value: ({ since }) => since },
  { title: 'ended_at', label: 'ended', value: (report) => report.ended_at },
  { title: 'booked_payments', label: 'booked payments', value: ({ booked }) => booked.payments },
  { title: 'booked_receipts', label: 'booked receipts', value: ({ booked }) => booked.receipts },
  { title: 'unexplained', value: (report) => report.unexplained_count },
  {
    title: 'balance_msats',
    label: 'node can send',
    value: (report) => report.balance_msats,
    show: (report) => (report.balance_msats === null ? '–' : bitcoin(report.balance_msats)),
  },
  {
    title: 'owed_msats',
    label: 'held by wallets',
    value: (report) => report.owed_msats,
    show: (report) => bitcoin(report.owed_msats),
  },
];
