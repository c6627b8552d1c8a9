import v8 from 'node:v8';

/** Both semi-spaces together. Larger ones save little CPU, and V8 keeps them once a busy minute has made them grow. */
const bytesMax = 32 * 1024 * 1024;
const checkEveryMs = 250;

/**
 * Bounds V8's young generation, which would grow to 128 MiB. `--max-semi-space-size` is read only when a process starts, and
 * starting another one costs 40 ms; the factor by which the generation grows is read each time.
 */
export function boundYoungGeneration(
  engine: Pick<typeof v8, 'getHeapSpaceStatistics' | 'setFlagsFromString'> = v8,
): void {
  let canGrow = true;
  setInterval(() => {
    const young = engine.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    const isSmall = (young?.space_size ?? 0) < bytesMax;
    if (canGrow === isSmall) return;
    canGrow = isSmall;
    engine.setFlagsFromString(`--semi-space-growth-factor=${canGrow ? 2 : 1}`);
  }, checkEveryMs).unref();
}
