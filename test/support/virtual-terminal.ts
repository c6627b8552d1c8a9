import { EventEmitter } from 'node:events';
import { render } from '../../src/cli/tui/render.ts';

interface Size {
  columns: number;
  rows: number;
}

/** The part of a terminal that Ink writes to. */
class Screen extends EventEmitter {
  // Ink starts programs to find out the size of a terminal that has none, for each frame.
  columns: number;
  rows: number;
  frame = '';

  constructor({ columns, rows }: Size) {
    super();
    this.columns = columns;
    this.rows = rows;
  }

  write(frame: string): void {
    this.frame = frame;
  }
}

/** The part of a terminal that Ink reads from. */
class Keyboard extends EventEmitter {
  isTTY = true;
  #typed: string | null = null;

  type(text: string): void {
    this.#typed = text;
    this.emit('readable');
    this.emit('data', text);
  }

  read(): string | null {
    const text = this.#typed;
    this.#typed = null;
    return text;
  }

  setEncoding() {}
  setRawMode() {}
  resume() {}
  pause() {}
  ref() {}
  unref() {}
}

/** Draws an element of Ink as often as it changes, with what a test types. */
export function openTerminal(element: (size: Size) => Parameters<typeof render>[0], size: Size) {
  const screen = new Screen(size);
  const keyboard = new Keyboard();
  const instance = render(element(size), {
    stdout: screen as unknown as NodeJS.WriteStream,
    stderr: new Screen(size) as unknown as NodeJS.WriteStream,
    stdin: keyboard as unknown as NodeJS.ReadStream,
    // Whole frames.
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return {
    frame: () => screen.frame,
    type: (text: string) => keyboard.type(text),
    resize(changed: Size) {
      Object.assign(screen, changed);
      screen.emit('resize');
      instance.rerender(element(changed));
    },
    close: () => instance.unmount(),
  };
}
