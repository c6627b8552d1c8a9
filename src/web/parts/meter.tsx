interface MeterProps {
  /** Shares of the limit, from 0: what is used, and what will be. */
  used: number;
  forecast?: number | undefined;
}

/** How much of a limit is used, and how much will be; the same is in words next to it. */
export function Meter({ used, forecast }: MeterProps) {
  const tone = used >= 1 ? 'is-full' : (forecast ?? used) >= 1 ? 'is-near' : '';
  const width = (share: number) => `${Math.min(100, Math.max(0, share * 100))}%`;
  return (
    <span class={`meter ${tone}`} aria-hidden="true">
      {forecast !== undefined && <span class="meter-forecast" style={{ width: width(forecast) }} />}
      <span class="meter-used" style={{ width: width(used) }} />
    </span>
  );
}
