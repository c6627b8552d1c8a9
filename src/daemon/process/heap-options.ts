import v8 from 'node:v8';

/** V8 runs a full collection when the heap has grown by this much since the last one, instead of by up to 300 %. */
const growthPercent = 50;
/** The first version of V8 that can keep optimized code; that of Node 22 is 12. */
const keepsCodeSince = 13;

/** Sets options of V8 that it reads each time, for all threads. */
export function setHeapOptions(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  // To save memory, V8 would forget the shapes of objects of which none exists eight seconds after a burst of calls, and with them
  // all code that it optimized for them: the next thousand calls took twice the CPU.
  if (Number.parseInt(process.versions.v8, 10) >= keepsCodeSince)
    v8.setFlagsFromString('--no-memory-reducer-favors-memory');
}
