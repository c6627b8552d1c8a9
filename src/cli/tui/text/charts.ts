import { percent } from '../../../view/numbers.ts';
import type { RenderOptions } from './render-options.ts';

/** A bar of `width` cells, filled from 0 to 1: any share above 0 shows, and more than 1 shows as full. */
export function bar(share: number, width: number): string {
  const bounded = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  const full = bounded === 0 ? 0 : Math.max(1, Math.floor(bounded * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** A bar with its percentage: `███░░░░   25 %`. */
export function gauge(share: number, width: number, { isPlain }: Pick<RenderOptions, 'isPlain'>): string {
  const text = percent(share);
  if (isPlain || width < 12) return text;
  return `${bar(share, width - 7)} ${text.padStart(6)}`;
}

const steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Numbers as columns of one line; zero is a dot. */
export function sparkline(numbers: readonly number[]): string {
  const most = Math.max(1, ...numbers);
  return numbers
    .map((number) => (number <= 0 ? '·' : steps[Math.min(7, Math.ceil((number / most) * 8) - 1)]))
    .join('');
}
