import type { ReadSetting } from './settings-in.ts';

/** What is kept of the content of calls. */
export interface CaptureConfig {
  content: 'off' | 'memory';
  memoryBytes: number;
  /** Whether calls with `store: false` are left out. */
  honoursStoreFalse: boolean;
}

export function captureOf(setting: ReadSetting): CaptureConfig {
  return {
    content: setting('capture.content'),
    memoryBytes: setting('capture.memory_mb') * 1024 * 1024,
    honoursStoreFalse: setting('capture.honour_store_false'),
  };
}
