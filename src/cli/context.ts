import { type Client, createClient } from '../shared/client.ts';
import type { DaemonModule } from '../shared/daemon-module.ts';
import { exitCodes } from '../shared/errors.ts';
import { version, versionHeader } from '../shared/version.ts';
import { isSentInClear } from './hosts/host-address.ts';
import { findHost, type Host } from './hosts/hosts.ts';
import { routeTo } from './hosts/send.ts';
import type { Io } from './io.ts';
import { guardedIo } from './output/guarded-io.ts';
import { createOutput, type Output, type OutputFlags } from './output/output.ts';

/** The options that every command has. */
export interface CommonFlags extends OutputFlags {
  host?: string | undefined;
}

/** The parts of a context; tests pass their own. */
interface ContextOptions {
  io: Io;
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
  commands: CommandIndex;
  now: () => number;
  sleep: Context['sleep'];
  /** Returns a signal that Ctrl-C aborts. */
  interrupted: () => AbortSignal;
  serve: () => Promise<DaemonModule>;
}

/** Everything a command uses. Each part is created on first use; tests replace any of them. */
export interface Context {
  readonly io: Io;
  readonly env: Record<string, string | undefined>;
  readonly platform: string;
  readonly home: string;
  readonly commands: CommandIndex;
  readonly out: Output;
  readonly flags: CommonFlags;
  /** Called once, before a command's action. */
  setFlags(flags: CommonFlags): void;
  /** Milliseconds since 1970. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** The daemon that commands connect to. Throws when there is none. */
  host(): Host;
  client(): Client;
  /** A client for another host, or with other credentials. */
  clientFor(
    host: Pick<Host, 'url' | 'socket' | 'token' | 'workspace'> & Partial<Pick<Host, 'isLocal'>>,
  ): Client;
  /** Finds the host again at the next call: a restarted daemon may have another address. */
  forgetHost(): void;
  /** Aborted by Ctrl-C. Until a command asks for it, Ctrl-C ends the process as usual. */
  interrupted(): AbortSignal;
  /** Whether Ctrl-C was pressed in a command that had asked for the signal. */
  readonly isInterrupted: boolean;
  daemon(): Promise<DaemonModule>;
  /** The options and arguments of the command that runs: `--name`, `<key>`. */
  inputs: readonly string[];
  /** The exit code when nothing is thrown; 0 by default. It may be that of another program. */
  exit: number;
}

/** Finds commands by the endpoints they call. An interface, because commands use the context and the manifest loads commands. */
export interface CommandIndex {
  /** The command that lists what the path's last `{parameter}` can be: `gateway keys list`. */
  listCommand(path: string): string | undefined;
  /** The words of the command that makes the same call; undefined if no command can. */
  commandLine(call: RecordedCall): string[] | undefined;
}

/** A call as the client made it. */
export interface RecordedCall {
  method: string;
  /** The path as the contract has it, with `{name}` for each parameter. */
  template: string;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

export function createContext(options: ContextOptions): Context {
  const { env, platform, home, commands } = options;
  const io = guardedIo(options.io);
  let flags: CommonFlags = {};
  let host: Host | undefined;
  let client: Client | undefined;
  let signal: AbortSignal | undefined;
  let hasWarnedOfVersion = false;
  let hasChangedData = false;
  const out = createOutput({ io, env, flags: () => flags, hasChangedData: () => hasChangedData });

  const checkVersion = (headers: Record<string, string>) => {
    const theirs = headers[versionHeader];
    if (!theirs || theirs === version || hasWarnedOfVersion) return;
    hasWarnedOfVersion = true;
    out.warn(`The daemon is version ${theirs}, but this command is ${version}.`);
  };

  const context: Context = {
    io,
    env,
    platform,
    home,
    commands,
    out,
    get flags() {
      return flags;
    },
    setFlags(given) {
      flags = given;
    },
    now: options.now,
    sleep: options.sleep,
    host() {
      host ??= findHost(flags.host, options);
      return host;
    },
    client() {
      client ??= context.clientFor(context.host());
      return client;
    },
    clientFor({ url, socket, token, workspace, isLocal }) {
      if (token && !isLocal && isSentInClear(url))
        out.warn(`The key is sent unencrypted to ${url}; use https.`);
      const { baseUrl, send } = routeTo({ url, socket }, env);
      return createClient({
        baseUrl,
        send: (request) => {
          hasChangedData ||= request.method !== 'GET';
          return send(request);
        },
        token,
        workspace,
        onHeaders: checkVersion,
      });
    },
    forgetHost() {
      host = undefined;
      client = undefined;
    },
    interrupted() {
      signal ??= options.interrupted();
      return signal;
    },
    get isInterrupted() {
      return signal?.aborted ?? false;
    },
    daemon: options.serve,
    inputs: [],
    exit: exitCodes.done,
  };
  return context;
}
