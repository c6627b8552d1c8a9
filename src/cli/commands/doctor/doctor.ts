import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { example } from '../../options.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import { withNpx } from '../../output/output.ts';
import type { Paint } from '../../output/style.ts';
import type { Column } from '../../output/table.ts';
import { checkConfig, checkKeychain } from './config.ts';
import { checkDaemon, checkOnline, checkSpans } from './daemon.ts';
import type { DoctorOptions, Finding } from './finding.ts';
import { checkClock, checkDisk, checkFolders, checkNode, checkOpenFiles, checkService } from './machine.ts';

export const doctorCommand = (context: Context) =>
  new Command('doctor')
    .option('--offline', 'do not ask the providers and the collector whether they answer')
    .addHelpText('after', example('gateway doctor --jq \'.[] | select(.state != "ok")\''))
    .action((options) => diagnose(context, options));

/** Runs every check and prints the findings; the exit code is 1 if anything is broken. */
async function diagnose(context: Context, options: DoctorOptions = {}): Promise<void> {
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check(context, options)));
  const { out, io } = context;
  if (out.isQuiet() && !out.wantsJson()) {
    const problems = findings.filter(({ state }) => state !== 'ok');
    await out.table(problems, columns, { empty: '' });
  } else if (!io.stdout.isTty || out.wantsJson()) await out.table(findings, columns, { empty: '' });
  else
    for (const finding of findings) io.stdout.write(withNpx(lines(finding, out.paint.stdout), context.env));
  if (findings.some((finding) => finding.state === 'broken')) context.exit = exitCodes.failed;
}

/** Never cut to the terminal's width: a remedy must be complete. */
function lines({ state, check, message, remedy }: Finding, paint: Paint): string {
  const first = `${paint(styles[state], state.padEnd(8))} ${check.padEnd(12)} ${escapeCell(message)}\n`;
  return remedy === null ? first : `${first}${' '.repeat(22)}→ ${escapeCell(remedy)}\n`;
}

const styles = { ok: 'green', warning: 'yellow', broken: 'red' } as const;

const columns: Column<Finding>[] = [
  { title: 'state', value: (finding) => finding.state, style: (finding) => styles[finding.state] },
  { title: 'check', value: (finding) => finding.check, essential: true },
  { title: 'found', value: (finding) => finding.message },
  { title: 'remedy', value: (finding) => finding.remedy },
];

export type Check = (context: Context, options: DoctorOptions) => Promise<Finding[]> | Finding[];

/** Every check, starting with what the others depend on. */
export const checks: Check[] = [
  checkNode,
  checkService,
  checkClock,
  checkOpenFiles,
  checkFolders,
  checkDisk,
  checkConfig,
  checkKeychain,
  checkOnline,
  checkSpans,
  checkDaemon,
];
