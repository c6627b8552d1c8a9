import { briefDollars, dollars } from '../../view/money.ts';

/** An amount, exact when pointed at. */
export function Amount({ usd }: { usd: string | null | undefined }) {
  return (
    <span
      class={usd === null || usd === undefined ? 'quiet' : undefined}
      title={usd ? dollars(usd) : undefined}
    >
      {briefDollars(usd)}
    </span>
  );
}
