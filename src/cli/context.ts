import type { Client } from '../shared/client.ts';
import type { DaemonModule } from '../shared/daemon-module.ts';
import type { ExitCode } from '../shared/errors.ts';
import type { CommonFlags } from './common-flags.ts';
import type { Host } from './hosts/hosts.ts';
import type { Output } from './output/output.ts';
import type { Io } from './terminal/io.ts';

/**
 * All that a command may use, each part made when it is first asked for. Commands take everything from here, so that a
 * test can run one in its own process.
 */
export interface Context {
  readonly io: Io;
  readonly env: Record<string, string | undefined>;
  readonly platform: string;
  readonly home: string;
  readonly out: Output;
  readonly flags: CommonFlags;
  /** Called once, before a command's action. */
  setFlags(flags: CommonFlags): void;
  /** Milliseconds since 1970. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** The daemon that is spoken to. Throws when there is none. */
  host(): Host;
  client(): Client;
  /** To another host, or as somebody else. */
  clientFor(
    host: Pick<Host, 'url' | 'socket' | 'token' | 'workspace'> & Partial<Pick<Host, 'isLocal'>>,
  ): Client;
  /** Looks for the host anew at the next call: a daemon that was started again may be elsewhere. */
  forgetHost(): void;
  /** Aborted by Ctrl-C. Until a command asks for it, Ctrl-C ends the process as usual. */
  interrupted(): AbortSignal;
  /** Whether Ctrl-C was pressed in a command that had asked for it. */
  readonly isInterrupted: boolean;
  daemon(): Promise<DaemonModule>;
  /** How the program ends when nothing is thrown; 0 unless told. */
  exit: ExitCode;
}
