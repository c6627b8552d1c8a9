import type { ReadStream } from 'node:tty';
import { whenAborted } from '../../shared/async/when-aborted.ts';
import type { Writer } from '../io.ts';
import { stopJob } from './stop-job.ts';

interface HiddenLine {
  prompt: string;
  signal?: AbortSignal | undefined;
}

/**
 * Reads one line from a terminal without echo; undefined if the input ends or the signal is aborted first. Backspace and
 * Ctrl-U work; Ctrl-C, Ctrl-\ and Ctrl-Z end or stop the program as usual.
 */
export async function readHidden(
  terminal: ReadStream,
  output: Pick<Writer, 'write'>,
  { prompt, signal }: HiddenLine,
): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  const wasRaw = terminal.isRaw;
  terminal.setEncoding('utf8');
  const show = () => {
    terminal.setRawMode(true);
    // Only now, as the terminal shows what is typed before.
    output.write(prompt);
  };
  let isLeft = false;
  const leave = () => {
    if (isLeft) return;
    isLeft = true;
    output.write('\n');
    terminal.setRawMode(wasRaw);
  };
  let isOver = false;
  const stop = async () => {
    leave();
    await stopJob();
    if (isOver) return;
    isLeft = false;
    show();
  };
  const stopWatching = beforeEnd(leave);
  show();
  try {
    return await typedLine(terminal, signal, { leave, stop });
  } finally {
    isOver = true;
    stopWatching();
    leave();
    terminal.pause();
  }
}

/** The signals after which Node does not restore the terminal. */
const ending = ['SIGHUP', 'SIGQUIT'] as const;

/** Does something before a signal ends the program. */
function beforeEnd(leave: () => void): () => void {
  const end = (signal: NodeJS.Signals) => {
    // The daemon reloads, for example, and goes on asking.
    if (process.listenerCount(signal) > 1) return;
    leave();
    stopWatching();
    process.kill(process.pid, signal);
  };
  const stopWatching = () => {
    for (const signal of ending) process.off(signal, end);
  };
  for (const signal of ending) process.on(signal, end);
  return stopWatching;
}

const keys = {
  return: '\r',
  newLine: '\n',
  endOfInput: '\u0004',
  stop: '\u001a',
  backspace: '\b',
  delete: '\u007f',
  clear: '\u0015',
};

const signals: Readonly<Record<string, NodeJS.Signals>> = { '\u0003': 'SIGINT', '\u001c': 'SIGQUIT' };

/** Keys like arrows, and what a terminal puts around pasted text. Source: ECMA-48, control sequences; xterm, SS3. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it.
const sequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/g;
/** One of which the rest is still to come. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it.
const unfinished = /\u001b(?:\[[0-?]*[ -/]*|O)?$/;

/** The line after a key press; other control keys are ignored. */
function typed(line: string[], key: string): string[] {
  if (key === keys.backspace || key === keys.delete) return line.slice(0, -1);
  if (key === keys.clear) return [];
  return key >= ' ' ? [...line, key] : line;
}

const lineEnd = /^\r?\n?/;

interface Leaving {
  leave(): void;
  stop(): Promise<void>;
}

function typedLine(
  terminal: ReadStream,
  signal: AbortSignal | undefined,
  { leave, stop }: Leaving,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let line: string[] = [];
    let begun = '';
    let stopWatching = () => {};
    const end = (text: string | undefined) => {
      terminal.off('data', take);
      terminal.off('end', ended);
      stopWatching();
      resolve(text);
    };
    const ended = () => end(undefined);
    const take = (data: string | Buffer) => {
      const text = (begun + String(data)).replace(sequence, '');
      begun = unfinished.exec(text)?.[0] ?? '';
      const pressed = [...text.slice(0, text.length - begun.length)];
      for (const [at, key] of pressed.entries()) {
        if (key === keys.return || key === keys.newLine) {
          const rest = (pressed.slice(at).join('') + begun).replace(lineEnd, '');
          end(line.join(''));
          // For the next prompt; a stream that flows would drop it.
          terminal.pause();
          if (rest !== '') terminal.unshift(rest);
          return;
        }
        if (key === keys.endOfInput && line.length === 0) return end(undefined);
        const ending = signals[key];
        if (ending !== undefined) {
          leave();
          process.kill(process.pid, ending);
        } else if (key === keys.stop) {
          // As a terminal does.
          line = [];
          void stop();
        } else line = typed(line, key);
      }
    };
    terminal.on('data', take);
    terminal.once('end', ended);
    if (signal) stopWatching = whenAborted(signal, ended);
    terminal.resume();
  });
}
