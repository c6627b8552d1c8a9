import type { ReadStream } from 'node:tty';
import { whenAborted } from '../../shared/when-aborted.ts';
import type { Writer } from '../io.ts';

interface HiddenLine {
  prompt: string;
  signal?: AbortSignal | undefined;
}

/**
 * Reads one line from a terminal without echo; undefined if the input ends or the signal is aborted first. Backspace and
 * Ctrl-U work; Ctrl-C ends the program as usual.
 */
export async function readHidden(
  terminal: ReadStream,
  output: Pick<Writer, 'write'>,
  { prompt, signal }: HiddenLine,
): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  const wasRaw = terminal.isRaw;
  terminal.setRawMode(true);
  terminal.setEncoding('utf8');
  try {
    // Only now, as the terminal shows what is typed before.
    output.write(prompt);
    return await typedLine(terminal, signal);
  } finally {
    output.write('\n');
    terminal.setRawMode(wasRaw);
    terminal.pause();
  }
}

const keys = {
  return: '\r',
  newLine: '\n',
  interrupt: '\u0003',
  endOfInput: '\u0004',
  backspace: '\b',
  delete: '\u007f',
  clear: '\u0015',
};

/** The line after a key press; other control keys are ignored. */
function typed(line: string[], key: string): string[] {
  if (key === keys.backspace || key === keys.delete) return line.slice(0, -1);
  if (key === keys.clear) return [];
  return key >= ' ' ? [...line, key] : line;
}

function typedLine(terminal: ReadStream, signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    let line: string[] = [];
    let stopWatching = () => {};
    const end = (text: string | undefined) => {
      terminal.off('data', take);
      terminal.off('end', ended);
      stopWatching();
      resolve(text);
    };
    const ended = () => end(undefined);
    const take = (data: string | Buffer) => {
      for (const key of String(data)) {
        if (key === keys.return || key === keys.newLine) return end(line.join(''));
        if (key === keys.endOfInput && line.length === 0) return end(undefined);
        if (key === keys.interrupt) {
          terminal.setRawMode(false);
          process.kill(process.pid, 'SIGINT');
        } else line = typed(line, key);
      }
    };
    terminal.on('data', take);
    terminal.once('end', ended);
    if (signal) stopWatching = whenAborted(signal, ended);
    terminal.resume();
  });
}
