import type { EventView } from '../../../shared/contract/events.ts';
import type { Context } from '../../context.ts';
import { count } from '../../output/amount.ts';
import { callLine } from '../tail/event-line.ts';

const secondMs = 1000;
/** Further lines within a second are summed up in one. */
const linesPerSecondMax = 20;

/** Prints a line per finished or rejected call; more than a person can read are counted. */
export function callPrinter({ io, out, sleep }: Context): (call: EventView) => void {
  let printed = 0;
  let skipped = new Map<string, number>();
  const startSecond = async (): Promise<void> => {
    await sleep(secondMs);
    printed = 0;
    if (skipped.size === 0) return;
    io.stdout.write(out.paint.stdout('dim', `${summaryOf(skipped)}\n`));
    skipped = new Map();
  };
  return (call) => {
    if (printed === 0 && skipped.size === 0) void startSecond();
    if (printed < linesPerSecondMax) {
      printed += 1;
      io.stdout.write(callLine(call, { columns: io.columns(), paint: out.paint.stdout }));
      return;
    }
    const { error_code, status, more } = call.data;
    const outcome = String(error_code ?? status);
    skipped.set(outcome, (skipped.get(outcome) ?? 0) + 1 + Number(more ?? 0));
  };
}

function summaryOf(skipped: ReadonlyMap<string, number>): string {
  const total = [...skipped.values()].reduce((sum, one) => sum + one, 0);
  const outcomes = [...skipped].map(([outcome, number]) => `${count(number)} ${outcome}`);
  return `… and ${count(total)} more: ${outcomes.join(', ')}`;
}
