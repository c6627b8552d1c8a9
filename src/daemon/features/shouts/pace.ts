const windowMs = 60_000;
const rememberedMax = 10_000;

/** Holds each person to so many in any minute. `take` gives 0, or how many seconds to wait. */
export function pace({ perMinute, elapsed }: { perMinute: number; elapsed: () => number }) {
  const taken = new Map<number, number[]>();
  return {
    take(person: number): number {
      const at = elapsed();
      const recent = (taken.get(person) ?? []).filter((time) => time > at - windowMs);
      const oldest = recent.at(-perMinute);
      // Deleted first, so that the order of the map is the order of last use.
      taken.delete(person);
      taken.set(person, oldest === undefined ? [...recent, at] : recent);
      if (taken.size > rememberedMax) taken.delete(taken.keys().next().value ?? 0);
      return oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest + windowMs - at) / 1000));
    },
  };
}
