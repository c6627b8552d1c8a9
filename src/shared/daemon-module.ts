import type { ConfigWarning } from './contract/configuration.ts';
import type { EventView } from './contract/events.ts';
import type { CopyStorageOptions, CopyStorageOutcome } from './storage/copy-storage.ts';
import type { RestoreOptions, RestoreOutcome } from './storage/restore.ts';

/** The parts of the daemon that commands call. They are injected, since neither side imports the other. */
export interface DaemonModule {
  /** Serves until stopped; resolves to the exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** Replaces the data with a backup while no daemon is running. */
  restore(options: RestoreOptions): Promise<RestoreOutcome>;
  /** Copies the database between a data folder and a server while no daemon runs. */
  copyStorage(options: CopyStorageOptions): Promise<CopyStorageOutcome>;
  loadConfigTools(): Promise<ConfigTools>;
}

/** Operations on the configuration that need no running daemon. */
export interface ConfigTools {
  path(location: ConfigLocation): string;
  explain(location: ConfigLocation): Promise<{ settings: ExplainedSetting[]; faults: ConfigFault[] }>;
  /** The faults are those the resulting file would have; with any, nothing is written. */
  set(
    location: ConfigLocation,
    change: ConfigChange,
  ): Promise<{ faults: ConfigFault[] } | { isChanged: boolean }>;
  /** Problems that do not keep a daemon from starting, such as unknown models. Expects a file without faults. */
  warnings(location: ConfigLocation): Promise<ConfigWarning[]>;
  /** The variables that have secrets: those of known providers, and those that the file names. */
  secretVariables(location: ConfigLocation): Promise<string[]>;
  schema(): Record<string, unknown>;
  /** Translates the configuration of a LiteLLM proxy, read from this path; it may name variables for addresses. */
  importLiteLlm(
    text: string,
    path: string,
    env: Record<string, string | undefined>,
  ): ImportedConfig | { faults: ConfigFault[] };
}

/** The configuration of another program, translated. */
export interface ImportedConfig {
  /** The text of a configuration file. */
  text: string;
  /** Sentences about what was not translated. */
  notes: string[];
  /** The variables that hold the keys. */
  variables: string[];
}

export interface ConfigChange {
  name: string;
  /** Undefined to remove the setting. */
  value: string | undefined;
  /** Whether a model that is unknown here can be called after all; without it, unknown models are no fault. */
  isKnownModel?: ((model: string) => Promise<boolean | undefined>) | undefined;
}

export interface ConfigLocation {
  /** The file, if it is not the default one. */
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

/** A setting, its effective value and where that comes from. */
export interface ExplainedSetting {
  name: string;
  value: unknown;
  source: 'flag' | 'environment' | 'file' | 'default';
  /** `--port`, `GATEWAY_PORT` or `config.yaml:3:9`; null for a default. */
  place: string | null;
}

/** Options given on the command line; absent ones are undefined. */
export interface ServeOptions {
  port?: number;
  host?: string;
  /** How many threads serve model calls. */
  workers?: number;
  /** The path of an additional Unix socket to listen on. */
  socket?: string;
  dataFolder?: string;
  configFile?: string;
  /** A simulator script. */
  simulate?: string;
  /** The folder to record provider calls into. */
  record?: string;
  /** The folder to replay provider calls from. */
  replay?: string;
  replaySpeed?: 'real' | 'instant';
  logLevel?: string;
  env: Record<string, string | undefined>;
  stdout: OutputStream;
  stderr: OutputStream;
  /** Shows a finished or rejected call: its event, with the member `key_name`. */
  showCall?: ((call: EventView) => void) | undefined;
  /** V8's options while the daemon serves; each function returns one that ends what it began. */
  heap?: { apply(): () => void; hold(): () => void } | undefined;
  /** Prompts for a secret, until the signal aborts; undefined without a terminal. */
  askSecret?: ((question: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}

interface OutputStream {
  write(text: string): unknown;
  /** Whether it is a terminal. */
  isTty?: boolean;
}
