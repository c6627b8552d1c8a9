import type { RedactionKind } from '../../shared/masking/redaction-kinds.ts';
import type { ReadSetting } from './settings-in.ts';

const megabyte = 1024 * 1024;

/** What is kept of the content of calls. */
export interface CaptureConfig {
  content: 'off' | 'memory' | 'disk';
  memoryBytes: number;
  /** The most that is kept on disk. */
  disk: { days: number; bytes: number };
  /** What is removed from it, besides credentials. */
  redaction: { kinds: readonly RedactionKind[]; patterns: readonly string[] };
  /** Whether calls with `store: false` are left out. */
  honoursStoreFalse: boolean;
}

export function captureOf(setting: ReadSetting): CaptureConfig {
  return {
    content: setting('capture.content'),
    memoryBytes: setting('capture.memory_mb') * megabyte,
    disk: { days: setting('capture.disk_days'), bytes: setting('capture.disk_mb') * megabyte },
    redaction: { kinds: setting('capture.redact'), patterns: setting('capture.redact_patterns') },
    honoursStoreFalse: setting('capture.honour_store_false'),
  };
}
