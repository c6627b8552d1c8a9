import type { EventView } from '../../../shared/contract/events.ts';
import { count, dollars } from '../../output/amount.ts';
import type { Paint, Style } from '../../output/style.ts';
import { clockTime, duration } from '../../output/time.ts';
import { tabSeparatedCell, visibleCell } from '../../output/visible.ts';
import { widthOf } from '../../output/width.ts';

interface LineOptions {
  isTty: boolean;
  paint: Paint;
}

/** The members of a finished request's event that a line shows. */
interface Finished {
  request_id?: string;
  status?: string;
  error_code?: string | null;
  model?: string;
  provider?: string | null;
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: string | null;
  ttft_ms?: number | null;
  total_ms?: number;
}

const styles: Record<string, Style> = {
  completed: 'green',
  incomplete: 'yellow',
  canceled: 'yellow',
  failed: 'red',
};

/** A line for each finished request and for each other thing that is kept; undefined for the steps of a running request. */
export function eventLine(event: EventView, options: LineOptions): string | undefined {
  if (event.type === 'request.started' || event.type === 'request.routed') return undefined;
  const cells =
    event.type === 'request.completed' || event.type === 'request.failed'
      ? finishedCells(event, options)
      : otherCells(event, options);
  return `${cells.join(options.isTty ? '  ' : '\t')}\n`;
}

function finishedCells({ created_at, data }: EventView, { isTty, paint }: LineOptions): string[] {
  const request = data as Finished;
  const { status = 'unknown', error_code, model = '', provider, total_ms = 0, ttft_ms } = request;
  const { input_tokens = 0, output_tokens = 0, cost_usd, request_id = '' } = request;
  if (!isTty) {
    const cells = [created_at, status, error_code, model, provider, input_tokens, output_tokens, cost_usd];
    return [...cells, ttft_ms, total_ms, request_id].map((cell) => tabSeparatedCell(String(cell ?? '')));
  }
  return [
    paint('dim', clockTime(created_at)),
    paint(styles[status], padded(status, 10)),
    padded(model, 28),
    padded(provider ?? '–', 12),
    padded(`${count(input_tokens)} → ${count(output_tokens)}`, 15),
    padded(dollars(cost_usd), 12),
    padded(ttft_ms == null ? '–' : duration(ttft_ms), 7),
    padded(duration(total_ms), 7),
    paint('dim', visibleCell(request_id)),
    ...(error_code ? [paint('red', visibleCell(error_code))] : []),
  ];
}

function otherCells({ created_at, type, data }: EventView, { isTty, paint }: LineOptions): string[] {
  const details = Object.entries(data).map(([name, value]) => `${name}=${text(value)}`);
  if (!isTty) return [created_at, type, ...details].map(tabSeparatedCell);
  return [paint('dim', clockTime(created_at)), paint('cyan', visibleCell(type)), ...details.map(visibleCell)];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function padded(raw: string, width: number): string {
  const safe = visibleCell(raw);
  return safe + ' '.repeat(Math.max(0, width - widthOf(safe)));
}
