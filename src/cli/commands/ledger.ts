import { Command } from '@commander-js/extra-typings';
import type { LedgerCheck } from '../../shared/contract/credit.ts';
import { verifyLedger } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';

export const verifyLedgerCommand = (context: Context) =>
  new Command('verify')
    .addHelpText('after', example('gateway ledger verify && echo balanced'))
    .action(() => verifyAndReport(context));

/** Prints one problem per line; the exit code is 1 if there are any. */
async function verifyAndReport(context: Context): Promise<void> {
  const check = await context.client().call(verifyLedger, {});
  if (!check.ok) context.exit = exitCodes.failed;
  if (context.out.wantsJson()) return context.out.document(check);
  if (!check.ok) context.out.text(check.problems.map((problem) => `${problem}\n`).join(''));
  const problems = check.problems.length === 1 ? '1 problem' : `${check.problems.length} problems`;
  context.out.note(check.ok ? `The ledger balances: ${size(check)}.` : `${problems} in ${size(check)}.`);
}

function size({ accounts, entries, grants, holds }: LedgerCheck): string {
  const parts = [
    [accounts, 'account', 'accounts'],
    [entries, 'entry', 'entries'],
    [grants, 'grant', 'grants'],
    [holds, 'running call', 'running calls'],
  ] as const;
  return parts.map(([number, one, many]) => `${count(number)} ${number === 1 ? one : many}`).join(', ');
}
