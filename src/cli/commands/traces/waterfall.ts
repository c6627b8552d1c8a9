import type { TraceView } from '../../../shared/contract/traces.ts';
import { hookSteps, stepNames } from '../../../view/call-steps.ts';
import { duration } from '../../../view/durations.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import type { Paint, Style } from '../../output/style.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';

/** A time span within a request, in milliseconds since it arrived. */
interface Stretch {
  name: string;
  from: number;
  to: number;
  label: string;
  style?: Style | undefined;
}

const nameWidthMax = 28;
const barWidths = { min: 10, max: 60 };

/** Draws the steps of a request as bars on a timeline, one per line: `plan █░░░`. */
export function waterfall(trace: TraceView, columns: number, paint: Paint = (_style, text) => text): string {
  const stretches = stretchesOf(trace);
  const nameWidth = Math.min(nameWidthMax, Math.max(...stretches.map(({ name }) => widthOf(name))));
  const labelWidth = Math.max(...stretches.map(({ label }) => widthOf(label)));
  const width = Math.min(barWidths.max, Math.max(barWidths.min, columns - nameWidth - labelWidth - 4));
  const total = Math.max(trace.timings.total_ms, ...stretches.map(({ to }) => to), 1);
  return stretches
    .map(({ name, from, to, label, style }) => {
      const shown = cutToWidth(escapeCell(name), nameWidth);
      const padded = shown + ' '.repeat(Math.max(0, nameWidth - widthOf(shown)));
      return `${padded}  ${bar(
        { from, to, total },
        width,
        (text) => paint(style, text),
        (text) => paint('dim', text),
      )}  ${label}\n`;
    })
    .join('');
}

function stretchesOf(trace: TraceView): Stretch[] {
  const { timings, attempts, provider, waits } = trace;
  const { admitted_ms: admitted, held_ms: held, first_token_ms: first } = timings;
  const { total_ms: total, settled_ms: settled } = timings;
  const stretch = (name: string, from: number, to: number, more = '', style?: Style): Stretch => ({
    name,
    from,
    to,
    style,
    label: `${duration(Math.max(0, to - from))}${more && `  ${escapeCell(more)}`}`,
  });
  const tried = attempts.flatMap(({ provider: asked, started_ms: from, ended_ms: to, status, error_code }) =>
    from === null || to === null
      ? []
      : [stretch(asked, from, to, error_code ?? String(status), error_code === null ? undefined : 'red')],
  );
  const hooks = hookSteps(trace).map(({ label, from, to, note, tone }) =>
    stretch(label, from, to, note, tone === 'bad' ? 'red' : undefined),
  );
  // Daemons of earlier versions lack them.
  const queued = (waits ?? []).map(({ name, position, started_ms: from, ms }) =>
    stretch(stepNames.queued, from, from + ms, `position ${position} at ${name}`, 'yellow'),
  );
  return [
    ...hooks,
    ...(admitted === null ? [] : [stretch(stepNames.admitted, 0, admitted)]),
    ...queued,
    ...(admitted === null || held === null ? [] : [stretch(stepNames.held, admitted, held)]),
    ...tried,
    ...(first === null || provider === null ? [] : [stretch('answer', first, total, '', 'cyan')]),
    ...(settled === null ? [] : [stretch(stepNames.settled, total, settled)]),
    stretch('total', 0, Math.max(total, settled ?? 0)),
  ];
}

/** At least one cell wide, so that the shortest step is visible. */
function bar(
  { from, to, total }: { from: number; to: number; total: number },
  width: number,
  paint: (text: string) => string,
  paintRest: (text: string) => string,
): string {
  const place = (ms: number) => Math.round((Math.min(ms, total) / total) * width);
  const start = Math.min(place(from), width - 1);
  const end = Math.max(place(to), start + 1);
  const rest = (cells: number) => (cells > 0 ? paintRest('░'.repeat(cells)) : '');
  return `${rest(start)}${paint('█'.repeat(end - start))}${rest(width - end)}`;
}
