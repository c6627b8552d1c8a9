import type { RestoreOptions, RestoreOutcome } from '../shared/restore.ts';

/** What commands need of the daemon's own code. */
export interface DaemonModule {
  /** Serves until it is told to stop; resolves to the exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** Puts a backup in the place of the data, while no daemon runs. */
  restore(options: RestoreOptions): Promise<RestoreOutcome>;
  loadConfigTools(): Promise<ConfigTools>;
}

/** What is done with the configuration where no daemon is asked. */
export interface ConfigTools {
  path(place: ConfigPlace): string;
  explain(place: ConfigPlace): Promise<{ settings: ExplainedSetting[]; faults: ConfigFault[] }>;
  /** Takes the setting out where `value` is undefined; the faults are those that the file would have. */
  set(
    place: ConfigPlace,
    name: string,
    value: string | undefined,
  ): Promise<{ faults: ConfigFault[] } | { isChanged: boolean }>;
  schema(): Record<string, unknown>;
}

export interface ConfigPlace {
  file?: string;
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

export interface ConfigFault {
  place: string;
  message: string;
}

export interface ExplainedSetting {
  name: string;
  value: unknown;
  source: 'flag' | 'environment' | 'file' | 'default';
  place: string | null;
}

/** What was said on the command line; what was not said is left out. */
export interface ServeOptions {
  port?: number;
  host?: string;
  socket?: string;
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
  /** Asks whoever starts it for a secret, until the signal; undefined where nobody is there. */
  askSecret?: ((question: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}
