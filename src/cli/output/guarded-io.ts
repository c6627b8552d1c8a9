import type { Io, Writer } from '../io.ts';
import { visibleControl } from './escape-controls.ts';

/** What commands write themselves: styles, a line or the last lines drawn again, and an empty screen. */
const own = '\u001b\\[[0-9;]*m|\\r\u001b\\[2K|(?:\u001b\\[\\d+A)?\\r\u001b\\[J|\u001b\\[H\u001b\\[J';
const controls = new RegExp(`(${own})|\\r\\n|[\\p{Cc}\\p{Bidi_Control}]`, 'gu');

/** Makes all controls visible that no command writes, whoever wrote them. */
export function guardText(text: string): string {
  return text.replace(controls, (found, kept: string | undefined) => kept ?? visibleControl(found));
}

/**
 * The streams of all commands. Whatever a command writes to a terminal, and all messages, pass `guardText`, as text of others may
 * contain what terminals obey. Data that is piped keeps its bytes.
 */
export function guardedIo(io: Io): Io {
  const { stdin } = io;
  return {
    get stdout() {
      return guarded(io.stdout, io.stdout.isTty);
    },
    get stderr() {
      return guarded(io.stderr, true);
    },
    lasting() {
      const { stdout, stderr, close } = io.lasting();
      return { stdout: guarded(stdout, stdout.isTty), stderr: guarded(stderr, true), close };
    },
    stdin: {
      get isTty() {
        return stdin.isTty;
      },
      read: () => stdin.read(),
      readLine: (options) => stdin.readLine({ ...options, prompt: guardText(options.prompt) }),
      readHidden: (prompt, signal) => stdin.readHidden(guardText(prompt), signal),
      lines: () => stdin.lines(),
    },
    columns: () => io.columns(),
    rows: () => io.rows(),
  };
}

function guarded(writer: Writer, isGuarded: boolean): Writer {
  if (!isGuarded) return writer;
  const decoder = new TextDecoder();
  return {
    isTty: writer.isTty,
    write: (data) =>
      writer.write(guardText(typeof data === 'string' ? data : decoder.decode(data, { stream: true }))),
  };
}
