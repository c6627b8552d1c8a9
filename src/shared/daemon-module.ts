import type { RestoreOptions, RestoreOutcome } from './restore.ts';

/** What commands need of the daemon's own code, which is handed to them: neither side imports the other. */
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
  /** The file, where it is not the usual one. */
  file?: string;
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

export interface ConfigFault {
  /** `config.yaml:12:3` or the name of an environment variable. */
  place: string;
  message: string;
}

/** What a setting is, and who says so. */
export interface ExplainedSetting {
  name: string;
  value: unknown;
  source: 'flag' | 'environment' | 'file' | 'default';
  /** `--port`, `GATEWAY_PORT` or `config.yaml:3:9`; null for a default. */
  place: string | null;
}

/** What was said on the command line; what was not said is left out. */
export interface ServeOptions {
  port?: number;
  host?: string;
  /** The path of a Unix socket to listen on as well. */
  socket?: string;
  dataFolder?: string;
  configFile?: string;
  /** A script for the simulator. */
  simulate?: string;
  /** A folder to keep calls to providers in. */
  record?: string;
  /** A folder to answer them from. */
  replay?: string;
  replaySpeed?: 'real' | 'instant';
  logLevel?: string;
  env: Record<string, string | undefined>;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
  /** Asks whoever starts it for a secret, until the signal; undefined where nobody is there. */
  askSecret?: ((question: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}
