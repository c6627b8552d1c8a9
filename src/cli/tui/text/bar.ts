import type { Drawing } from '../screen.ts';

/** A bar of `width` cells, filled to a part from 0 to 1; more is shown as full, and what is not nothing is seen. */
export function bar(part: number, width: number): string {
  const bounded = Math.min(1, Math.max(0, Number.isFinite(part) ? part : 0));
  const full = bounded === 0 ? 0 : Math.max(1, Math.floor(bounded * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** What is used of something, as a bar in brackets and in percent: the number says the same as the drawing. */
export function gauge(part: number, width: number, { isPlain }: Pick<Drawing, 'isPlain'>): string {
  const percent = `${Math.round(part * 100)} %`;
  if (isPlain || width < 12) return percent;
  return `${bar(part, width - 7)} ${percent.padStart(6)}`;
}

const steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Numbers as columns of one line, newest at the right; nothing is a dot. */
export function sparkline(numbers: readonly number[]): string {
  const most = Math.max(1, ...numbers);
  return numbers
    .map((number) => (number <= 0 ? '·' : steps[Math.min(7, Math.ceil((number / most) * 8) - 1)]))
    .join('');
}
