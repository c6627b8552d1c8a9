import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Both semi-spaces together. Larger ones save little CPU, and V8 keeps them once a busy minute has made them grow. */
const bytesMax = 32 * 1024 * 1024;
const checkEveryMs = 250;

/**
 * Bounds V8's young generation, which would grow to 128 MiB. `--max-semi-space-size` is read only when a process starts, and
 * starting another one costs 40 ms; the factor by which the generation grows is read each time.
 */
export function boundYoungGeneration(): void {
  let canGrow = true;
  setInterval(() => {
    const size =
      getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
    if (canGrow === size < bytesMax) return;
    canGrow = size < bytesMax;
    setFlagsFromString(`--semi-space-growth-factor=${canGrow ? 2 : 1}`);
  }, checkEveryMs).unref();
}
