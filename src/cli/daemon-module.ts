/** What the `serve` command needs of the daemon: one function. */
export interface DaemonModule {
  /** Serves until it is told to stop; resolves to the exit code. */
  serve(options: ServeOptions): Promise<number>;
}

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
