import type { ExitCode } from './errors.ts';

/** Which backup is put in the place of the data, and where. */
export interface RestoreOptions {
  backup: string;
  /** The usual one unless told. */
  dataFolder?: string;
  env: Record<string, string | undefined>;
  onProgress: (progress: { step: 'copying' | 'checking'; doneBytes: number; totalBytes: number }) => void;
}

/** What was restored, or why nothing was. */
export type RestoreOutcome =
  | {
      dataFolder: string;
      madeAt: string | null;
      schemaVersion: number;
      /** Where the old data lies. */
      aside: string | null;
      /** The configuration file, where the backup's was put in place because there was none. */
      configWritten: string | null;
      masters: { keyId: string; store: string }[];
    }
  | { problem: string; exit: ExitCode };
