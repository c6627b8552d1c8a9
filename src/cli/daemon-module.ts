import type { ExitCode } from '../shared/errors.ts';

/** What commands need of the daemon's own code. */
export interface DaemonModule {
  /** Serves until it is told to stop; resolves to the exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** Puts a backup in the place of the data, while no daemon runs. */
  restore(options: RestoreOptions): Promise<RestoreOutcome>;
}

export interface RestoreOptions {
  backup: string;
  dataFolder?: string;
  env: Record<string, string | undefined>;
  onProgress: (progress: { step: 'copying' | 'checking'; doneBytes: number; totalBytes: number }) => void;
}

export type RestoreOutcome =
  | {
      dataFolder: string;
      madeAt: string | null;
      schemaVersion: number;
      aside: string | null;
      configWritten: string | null;
      masters: { keyId: string; store: string }[];
    }
  | { problem: string; exit: ExitCode };

/** What was said on the command line; what was not said is left out. */
export interface ServeOptions {
  port?: number;
  host?: string;
  dataFolder?: string;
  configFile?: string;
  simulate?: string;
  record?: string;
  replay?: string;
  replaySpeed?: 'real' | 'instant';
  logLevel?: string;
  env: Record<string, string | undefined>;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}
