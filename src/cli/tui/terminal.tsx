import { useApp } from 'ink';
import { useEffect, useLayoutEffect } from 'react';
import type { Paint } from '../output/style.ts';
import { pressMouse } from './actions/press-mouse.ts';
import { App } from './app.tsx';
import type { HostLabel } from './components/header.ts';
import { MouseInput, mouseOff, mouseOn } from './mouse-input.ts';
import { render } from './render.ts';
import type { TuiState } from './state/tui-state.ts';
import type { ChartStyle } from './text/chart-style.ts';

/** What the program can do with its terminal; the members are set while it is mounted. */
export interface TerminalHandle {
  copy?(text: string): boolean;
  quit?(): void;
  suspend?(): void;
  redraw?(): void;
}

interface RunOptions {
  state: TuiState;
  paint: Paint;
  charts: ChartStyle;
  host: () => HostLabel;
  terminal: TerminalHandle;
  isPlain: boolean;
  /** Whether the terminal reports its mouse. */
  hasMouse: boolean;
}

/** Upper bound for redraws; background changes are limited further by the state itself. */
const framesPerSecond = 30;

/** Renders the TUI until the user quits, and restores the terminal even after a crash. */
export async function runInTerminal({
  state,
  paint,
  charts,
  host,
  terminal,
  isPlain,
  hasMouse,
}: RunOptions): Promise<void> {
  const input = hasMouse ? new MouseInput(process.stdin, (event) => pressMouse(state, event)) : undefined;
  if (input) process.stdin.pipe(input);
  const instance = render(
    <Terminal handle={terminal} hasMouse={hasMouse}>
      <App state={state} paint={paint} charts={charts} host={host} />
    </Terminal>,
    {
      alternateScreen: !isPlain,
      incrementalRendering: !isPlain,
      isScreenReaderEnabled: isPlain,
      interactive: true,
      maxFps: framesPerSecond,
      exitOnCtrlC: false,
      // It has what Ink uses of a terminal.
      ...(input && { stdin: input as unknown as NodeJS.ReadStream }),
    },
  );
  const failed = Promise.withResolvers<never>();
  const fail = (error: unknown) => failed.reject(error);
  process.once('uncaughtException', fail).once('unhandledRejection', fail);
  try {
    await Promise.race([instance.waitUntilExit(), failed.promise]);
  } finally {
    process.off('uncaughtException', fail).off('unhandledRejection', fail);
    instance.unmount();
    if (input) process.stdin.unpipe(input).pause();
  }
}

interface TerminalProps {
  handle: TerminalHandle;
  hasMouse: boolean;
  children: React.ReactNode;
}

function Terminal({ handle, hasMouse, children }: TerminalProps) {
  const { exit, suspendTerminal } = useApp();
  // Runs also when a signal ends the program.
  useLayoutEffect(() => {
    if (!hasMouse) return undefined;
    process.stdout.write(mouseOn);
    return () => void process.stdout.write(mouseOff);
  }, [hasMouse]);
  useEffect(() => {
    handle.quit = () => exit();
    handle.redraw = () => void suspendTerminal(() => {});
    handle.suspend = () =>
      void suspendTerminal(async () => {
        if (hasMouse) process.stdout.write(mouseOff);
        await stopProcessGroup();
        if (hasMouse) process.stdout.write(mouseOn);
      });
    handle.copy = (text) => {
      const sequence = clipboardSequence(text);
      if (sequence) process.stdout.write(sequence);
      return sequence !== undefined;
    };
  }, [handle, hasMouse, exit, suspendTerminal]);
  return children;
}

/** Terminals drop clipboard texts that are longer than this. */
const clipboardBytesMax = 74_000;

/** Sets the clipboard, also over SSH. Source: xterm control sequences, OSC 52. */
function clipboardSequence(text: string): string | undefined {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > clipboardBytesMax) return undefined;
  return `\u001b]52;c;${bytes.toString('base64')}\u0007`;
}

/** The timer does not run while the process is stopped, so this only bridges the moment until the signal arrives. */
const resumedMs = 50;

/** Stops the whole job, as Ctrl-Z does in a cooked terminal; resolves when the shell continues it. */
function stopProcessGroup(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, resumedMs);
    process.kill(0, 'SIGTSTP');
  });
}
