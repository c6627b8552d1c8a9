import { whenAborted } from '../shared/async/when-aborted.ts';
import type { DaemonModule } from '../shared/daemon-module.ts';
import { encodingOf } from '../shared/text/decode-text.ts';
import { type Context, createContext } from './context.ts';
import type { Io } from './io.ts';
import { commandIndex } from './manifest/command-index.ts';
import { exitOnFailedWrite } from './terminal/exit-on-failed-write.ts';
import { lastingStreams } from './terminal/lasting-streams.ts';
import { watchTerminal } from './terminal/watch-terminal.ts';
import { homeFolder, tidyEnvironment } from './tidy-environment.ts';

/** The context of the program itself: its own streams, environment, clock and signals. */
export function processContext({ serve }: { serve: () => Promise<DaemonModule> }): Context {
  // As the system would: programs that this one started may have to know.
  watchTerminal(() => endsWithStreams && process.kill(process.pid, 'SIGHUP'));
  tidyEnvironment(process.env);
  return createContext({
    io: processIo(),
    env: process.env,
    platform: process.platform,
    home: homeFolder(process.env, process.getBuiltinModule('node:os').homedir),
    commands: commandIndex,
    now: Date.now,
    sleep,
    interrupted: onCtrlC,
    serve,
  });
}

function processIo(): Io {
  return {
    get stdout() {
      return writerFor(process.stdout);
    },
    get stderr() {
      return writerFor(process.stderr);
    },
    lasting() {
      endsWithStreams = false;
      return lastingStreams(process);
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
      async readLine(options) {
        const { readLine } = await import('./terminal/read-line.ts');
        return readLine(process.stdin, writerFor(process.stderr), { ...options, signal: ctrlC });
      },
      lines,
      async readHidden(prompt, signal = ctrlC) {
        const { readHidden } = await import('./terminal/read-hidden.ts');
        return readHidden(process.stdin, writerFor(process.stderr), { prompt, signal });
      },
    },
    // Some terminals report 0.
    columns: () => process.stdout.columns || process.stderr.columns || 80,
    rows: () => process.stdout.rows || process.stderr.rows || 24,
  };
}

const handled = new WeakSet<object>();
/** Whether a failed stream ends the process. */
let endsWithStreams = true;

function writerFor(stream: NodeJS.WriteStream): Io['stdout'] {
  if (!handled.has(stream)) {
    handled.add(stream);
    stream.on('error', (error) => {
      if (endsWithStreams) exitOnFailedWrite(stream, error);
    });
  }
  return { write: (data) => stream.write(data), isTty: stream.isTTY === true };
}

// node:readline also splits at U+2028, which may occur inside a JSON text.
async function* lines(): AsyncGenerator<string, void> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let rest: string[] = [];
  for await (const bytes of process.stdin) {
    decoder ??= new TextDecoder(encodingOf(bytes as Uint8Array));
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
    let stopWatching = () => {};
    const done = () => {
      clearTimeout(timer);
      stopWatching();
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal) stopWatching = whenAborted(signal, done);
  });
}

/** Where a command has asked for it. Otherwise Ctrl-C ends the process. */
let ctrlC: AbortSignal | undefined;

function onCtrlC(): AbortSignal {
  const controller = new AbortController();
  ctrlC = controller.signal;
  process.once('SIGINT', () => {
    controller.abort(new Error('interrupted'));
    // Pressed again: do not wait for the cost of the canceled call.
    process.once('SIGINT', () => process.exit(130));
  });
  return controller.signal;
}
