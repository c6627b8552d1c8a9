import { briefDollars, dollars } from '../../view/money.ts';
import { clock, dayAndClock, plannedTime } from '../../view/times.ts';
import { now } from '../data/now.ts';
import { zoneName } from '../data/preferences.ts';
import { Meter } from './meter.tsx';

interface SpendBarProps {
  /** Dollars as decimals. */
  spent: string;
  limit: string;
  /** The limit in words: `$5 per day in Europe/Berlin from 06:00`. */
  cap: string;
  /** Dollars at the end of the period. */
  forecast: number | undefined;
  /** In milliseconds since 1970. */
  reachedAt: number | undefined;
  resetsAt: number | undefined;
  /** The address of the calls for which it was spent. */
  href?: string | undefined;
}

/** What is spent of a limit as a bar and in words, with when it will be used up, or resets. */
export function SpendBar({ spent, limit, cap, forecast, reachedAt, resetsAt, href }: SpendBarProps) {
  const [used, most] = [Number(spent), Number(limit)];
  const share = (amount: number) => (most > 0 ? amount / most : 1);
  const end = resetsAt === undefined ? '' : `resets ${momentText(resetsAt)}`;
  const isFull = used >= most;
  return (
    <span class="spend-bar">
      <span class="spend-text">
        <span title={`${dollars(spent)} of ${dollars(limit)}`}>
          <b>
            {href === undefined || used === 0 ? (
              briefDollars(spent)
            ) : (
              <a class="figure-link" href={href} aria-label={`${briefDollars(spent)} spent: its calls`}>
                {briefDollars(spent)}
              </a>
            )}
          </b>{' '}
          of {cap}
        </span>
        {forecast !== undefined && (
          <span class="quiet" title="At the end of the period, if spending goes on like this">
            ≈{briefDollars(forecast)}
          </span>
        )}
      </span>
      <Meter used={share(used)} forecast={forecast === undefined ? undefined : share(forecast)} />
      <span class="quiet" title={resetsAt === undefined ? undefined : plannedTime(resetsAt, 'UTC')}>
        {isFull && <span class="bad">used up</span>}
        {isFull && end && ', '}
        {reachedAt === undefined ? end : <span class="warn">reached about {momentText(reachedAt)}</span>}
      </span>
    </span>
  );
}

/** `21:40` within a day, `1 Dec, 01:00` later. */
function momentText(at: number): string {
  const timeZone = zoneName();
  return at - now.value < 24 * 3_600_000 ? clock(at, timeZone) : dayAndClock(at, timeZone);
}
