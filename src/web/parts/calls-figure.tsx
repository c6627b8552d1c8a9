import { count } from '../../view/numbers.ts';
import type { CountedCalls } from '../data/calls-link.ts';

interface FigureProps {
  /** The figure as it is shown. */
  text: string;
  /** What it is, for those who do not see it in its place: `errors of openai/gpt-5`. */
  what: string;
  /** The calls that it tells of; no link if there are none, or if they cannot be found. */
  of: CountedCalls | undefined;
  title?: string | undefined;
}

/** A figure of calls, as the way to just these calls. */
export function CallsFigure({ text, what, of, title }: FigureProps) {
  if (!of || of.calls === 0) return <span title={title}>{text}</span>;
  const calls = count(of.calls);
  const counted = text === calls ? '' : `, ${calls} ${of.calls === 1 ? 'call' : 'calls'}`;
  return (
    <a class="figure-link" href={of.href} title={title} aria-label={`${text} ${what}${counted}`}>
      {text}
    </a>
  );
}
