import type { Scores } from './scores.ts';
import { bar, percent } from './show-decision.ts';

/** A line per bin with answers: its confidence, how many were right, and a bar of the latter. */
export function reliabilityLines({ bins }: Scores): string[] {
  const shown = bins.filter(({ count }) => count > 0);
  const width = Math.max(...shown.map(({ count }) => String(count).length));
  return shown.map(({ confidence, accuracy, count }) => {
    const label = `${percent(confidence).padStart(6)}  ${percent(accuracy).padStart(6)}`;
    const gap = accuracy - confidence;
    const points = Math.round(gap * 100);
    const sign = points > 0 ? '+' : '';
    return `  ${label}  ${String(count).padStart(width)}  ${bar(accuracy)} ${sign}${points}`;
  });
}

const side = 320;
const margin = 48;

/** The reliability diagram as an SVG document: accuracy by confidence, and the diagonal of perfect calibration. */
export function reliabilitySvg({ bins, ece, examples }: Scores, title: string): string {
  const size = side + 2 * margin;
  const x = (value: number) => (margin + value * side).toFixed(1);
  const y = (value: number) => (margin + (1 - value) * side).toFixed(1);
  const most = Math.max(...bins.map(({ count }) => count));
  const columns = bins
    .filter(({ count }) => count > 0)
    .map(({ from, to, accuracy, confidence, count }) => {
      const opacity = (0.25 + (0.75 * count) / most).toFixed(2);
      const width = ((to - from) * side - 1).toFixed(1);
      const tip = `${count} answers, confidence ${percent(confidence)}, right ${percent(accuracy)}`;
      return `  <rect x="${x(from)}" y="${y(accuracy)}" width="${width}" height="${(accuracy * side).toFixed(1)}" fill="#2563eb" fill-opacity="${opacity}"><title>${tip}</title></rect>`;
    });
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    `  <text x="${x(value)}" y="${size - margin + 16}" text-anchor="middle">${value}</text>`,
    `  <text x="${margin - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value}</text>`,
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}" font-family="sans-serif" font-size="12">`,
    `  <rect width="${size}" height="${size}" fill="#ffffff"/>`,
    `  <text x="${size / 2}" y="22" text-anchor="middle" font-size="14">${escaped(title)}</text>`,
    `  <text x="${size / 2}" y="40" text-anchor="middle" fill="#555555">${examples} examples, ECE ${ece.toFixed(3)}</text>`,
    ...columns,
    `  <rect x="${margin}" y="${margin}" width="${side}" height="${side}" fill="none" stroke="#999999"/>`,
    `  <line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#dc2626" stroke-dasharray="4 4"/>`,
    ...ticks,
    `  <text x="${size / 2}" y="${size - 10}" text-anchor="middle">confidence</text>`,
    `  <text x="14" y="${size / 2}" text-anchor="middle" transform="rotate(-90 14 ${size / 2})">right answers</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
