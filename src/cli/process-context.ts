import { type Client, createClient } from '../shared/client.ts';
import type { DaemonModule } from '../shared/daemon-module.ts';
import { exitCodes } from '../shared/errors.ts';
import { version, versionHeader } from '../shared/version.ts';
import type { CommonFlags } from './common-flags.ts';
import type { Context } from './context.ts';
import { isSentInClear } from './hosts/host-address.ts';
import { findHost, type Host } from './hosts/hosts.ts';
import { wayTo } from './hosts/send.ts';
import { createOutput } from './output/output.ts';
import type { Io } from './terminal/io.ts';

export interface Surroundings {
  io: Io;
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
  now: () => number;
  sleep: Context['sleep'];
  /** Hands out a signal that Ctrl-C aborts. */
  interrupted: () => AbortSignal;
  serve: () => Promise<DaemonModule>;
}

/** Joins the parts of a context; each is made when it is first asked for. */
export function createContext(surroundings: Surroundings): Context {
  const { io, env, platform, home } = surroundings;
  let flags: CommonFlags = {};
  let host: Host | undefined;
  let client: Client | undefined;
  let signal: AbortSignal | undefined;
  let versionWasTold = false;
  const out = createOutput({ io, env, flags: () => flags });

  const tellVersion = (headers: Record<string, string>) => {
    const theirs = headers[versionHeader];
    if (!theirs || theirs === version || versionWasTold) return;
    versionWasTold = true;
    out.warn(`The daemon is version ${theirs}, this command is ${version}.`);
  };

  const context: Context = {
    io,
    env,
    platform,
    home,
    out,
    get flags() {
      return flags;
    },
    setFlags(given) {
      flags = given;
    },
    now: surroundings.now,
    sleep: surroundings.sleep,
    host() {
      host ??= findHost(flags.host, surroundings);
      return host;
    },
    client() {
      client ??= context.clientFor(context.host());
      return client;
    },
    clientFor({ url, socket, token, workspace, isLocal }) {
      if (token && !isLocal && isSentInClear(url))
        out.warn(`The key travels unencrypted to ${url}; use https.`);
      return createClient({ ...wayTo({ url, socket }, env), token, workspace, onHeaders: tellVersion });
    },
    forgetHost() {
      host = undefined;
      client = undefined;
    },
    interrupted() {
      signal ??= surroundings.interrupted();
      return signal;
    },
    get isInterrupted() {
      return signal?.aborted ?? false;
    },
    daemon: surroundings.serve,
    exit: exitCodes.done,
  };
  return context;
}

/** The context of the program itself: its own streams, environment, clock and signals. */
export function processContext({ serve }: { serve: () => Promise<DaemonModule> }): Context {
  return createContext({
    io: processIo(),
    env: process.env,
    platform: process.platform,
    home: homeFolder(),
    now: Date.now,
    sleep,
    interrupted: interruptedByCtrlC,
    serve,
  });
}

function homeFolder(): string {
  return process.getBuiltinModule('node:os').homedir();
}

function processIo(): Io {
  return {
    get stdout() {
      return writerOf(process.stdout);
    },
    get stderr() {
      return writerOf(process.stderr);
    },
    stdin: {
      get isTty() {
        return process.stdin.isTTY === true;
      },
      async read() {
        const chunks: Uint8Array[] = [];
        for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
        return Buffer.concat(chunks);
      },
      readLine,
      lines,
      readHidden: async (signal) =>
        (await import('./terminal/read-hidden.ts')).readHidden(process.stdin, signal),
    },
    // Some terminals say 0.
    columns: () => process.stdout.columns || process.stderr.columns || 80,
  };
}

const silenced = new WeakSet<object>();

function writerOf(stream: NodeJS.WriteStream): Io['stdout'] {
  if (!silenced.has(stream)) {
    silenced.add(stream);
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      // A reader that has seen enough, like `head`, ends the program without a word.
      if (code === 'EPIPE') process.exit(exitCodes.done);
      // The disk is full, for example. Of standard error itself nothing can be told.
      if (stream === process.stdout) process.stderr.write(`error: The output cannot be written (${code}).\n`);
      process.exit(exitCodes.failed);
    });
  }
  return { write: (text) => stream.write(text), isTty: stream.isTTY === true };
}

async function readLine(): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line;
    return undefined;
  } finally {
    lines.close();
  }
}

// Node's own reader of lines also ends one at a U+2028, which may stand in the middle of a JSON text.
async function* lines(): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const bytes of process.stdin) {
    const [first = '', ...more] = decoder.decode(bytes as Uint8Array, { stream: true }).split('\n');
    rest.push(first);
    if (more.length === 0) continue;
    yield rest.join('');
    rest = [more.pop() ?? ''];
    yield* more;
  }
  if (rest.join('') !== '') yield rest.join('');
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}

function interruptedByCtrlC(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => {
    controller.abort(new Error('interrupted'));
    // Whoever presses it twice does not want to wait for the bill.
    process.once('SIGINT', () => process.exit(130));
  });
  return controller.signal;
}
