import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { asTyped } from '../../as-typed.ts';
import type { Context } from '../../context.ts';
import { example } from '../../manifest/options.ts';
import type { Paint } from '../../output/style.ts';
import type { Column } from '../../output/table.ts';
import { visibleCell } from '../../output/visible.ts';
import { checkConfig, checkKeychain } from './config.ts';
import { checkDaemon, checkOnline } from './daemon.ts';
import type { Finding } from './finding.ts';
import { checkClock, checkDisk, checkFolders, checkNode, checkOpenFiles } from './machine.ts';

export const doctorCommand = (context: Context) =>
  new Command('doctor')
    .option('--online', 'also have each provider asked whether it takes the key')
    .addHelpText('after', example('gateway doctor --jq \'.[] | select(.state != "ok")\''))
    .action((wishes) => examine(context, wishes));

/** Runs every check and tells all findings; the exit code is 1 when something is broken. */
export async function examine(context: Context, wishes: Wishes = {}): Promise<void> {
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check(context, wishes)));
  const { out, io } = context;
  if (out.isQuiet() && !out.wantsJson()) {
    const amiss = findings.filter(({ state }) => state !== 'ok');
    await out.table(amiss, columns, { empty: '' });
  } else if (!io.stdout.isTty || out.wantsJson()) await out.table(findings, columns, { empty: '' });
  else
    for (const finding of findings) io.stdout.write(asTyped(lines(finding, out.paint.stdout), context.env));
  if (findings.some((finding) => finding.state === 'broken')) context.exit = exitCodes.failed;
}

/** Whole, however narrow the terminal: a remedy that is cut is none. */
function lines({ state, check, message, remedy }: Finding, paint: Paint): string {
  const first = `${paint(styles[state], state.padEnd(8))} ${check.padEnd(12)} ${visibleCell(message)}\n`;
  return remedy === null ? first : `${first}${' '.repeat(22)}→ ${visibleCell(remedy)}\n`;
}

const styles = { ok: 'green', warning: 'yellow', broken: 'red' } as const;

const columns: Column<Finding>[] = [
  { title: 'state', value: (finding) => finding.state, style: (finding) => styles[finding.state] },
  { title: 'check', value: (finding) => finding.check, essential: true },
  { title: 'found', value: (finding) => finding.message },
  { title: 'remedy', value: (finding) => finding.remedy },
];

export interface Wishes {
  /** Whether providers may be asked. */
  online?: true;
}

export type Check = (context: Context, wishes: Wishes) => Promise<Finding[]> | Finding[];

/** Every check, from the ground up. */
export const checks: Check[] = [
  checkNode,
  checkClock,
  checkOpenFiles,
  checkFolders,
  checkDisk,
  checkConfig,
  checkKeychain,
  checkDaemon,
  checkOnline,
];
