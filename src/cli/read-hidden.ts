import type { ReadStream } from 'node:tty';

/**
 * One line typed at a terminal that shows nothing of it; undefined when the input ends, or the signal is aborted, first.
 * Backspace and Ctrl-U work; Ctrl-C ends the program as it always does.
 */
export async function readHidden(terminal: ReadStream, signal?: AbortSignal): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  const wasRaw = terminal.isRaw;
  terminal.setRawMode(true);
  terminal.setEncoding('utf8');
  try {
    return await typedLine(terminal, signal);
  } finally {
    terminal.setRawMode(wasRaw);
    terminal.pause();
  }
}

function typedLine(terminal: ReadStream, signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    let line: string[] = [];
    const end = (text: string | undefined) => {
      terminal.off('data', take);
      terminal.off('end', ended);
      signal?.removeEventListener('abort', ended);
      resolve(text);
    };
    const ended = () => end(undefined);
    const take = (data: string | Buffer) => {
      for (const character of String(data)) {
        if (character === '\r' || character === '\n') return end(line.join(''));
        if (character === '\u0004' && line.length === 0) return end(undefined);
        if (character === '\u0003') {
          terminal.setRawMode(false);
          process.kill(process.pid, 'SIGINT');
        } else if (character === '\u007f' || character === '\b') line.pop();
        else if (character === '\u0015') line = [];
        else if (character >= ' ') line.push(character);
      }
    };
    terminal.on('data', take);
    terminal.once('end', ended);
    signal?.addEventListener('abort', ended, { once: true });
    terminal.resume();
  });
}
