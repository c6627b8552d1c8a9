import type { ExitCode } from '../errors.ts';

/** Which backup replaces the data, and where. */
export interface RestoreOptions {
  backup: string;
  /** Default: the usual folder. */
  dataFolder?: string;
  env: Record<string, string | undefined>;
  onProgress: (progress: { step: 'copying' | 'checking'; doneBytes: number; totalBytes: number }) => void;
}

/** The result of a restore, or why nothing was restored. */
export type RestoreOutcome =
  | {
      dataFolder: string;
      madeAt: string | null;
      schemaVersion: number;
      /** The folder of the previous data. */
      aside: string | null;
      /** The configuration file, if it was restored because none existed. */
      configWritten: string | null;
      masters: { keyId: string; store: string }[];
      /** Whether there are wallets of a Lightning node, which are to be compared with it. */
      hasNodeWallets: boolean;
      /** Whether the configuration puts the data on a database server, which this folder is not. */
      usesServer: boolean;
    }
  | { problem: string; exit: ExitCode };
