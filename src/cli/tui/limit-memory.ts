import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Smaller, objects that live for a moment would count as old, and be collected late. */
const newSpaceBytes = 8 * 1024 * 1024;
const checkEveryMs = 100;

/**
 * Keeps V8 from growing its heap instead of collecting it: redraws allocate much and keep little. By default, its space for
 * new objects reaches 128 MB, and that for old ones a multiple of what is in use.
 */
export function limitMemory(): void {
  setFlagsFromString('--heap-growing-percent=50');
  // The size of the space for new objects can only be fixed at what it is.
  const timer = setInterval(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (space && space.space_size < newSpaceBytes) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    clearInterval(timer);
  }, checkEveryMs).unref();
}
