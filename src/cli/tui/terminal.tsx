import { useApp } from 'ink';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { Paint } from '../output/style.ts';
import { stopJob } from '../terminal/stop-job.ts';
import { keepTypedAhead } from '../terminal/typed-ahead.ts';
import { pressMouse } from './actions/press-mouse.ts';
import { App } from './app.tsx';
import type { HostLabel } from './components/header.ts';
import { render } from './render.ts';
import type { TuiState } from './state/tui-state.ts';
import { mouseOff, mouseOn, TerminalInput } from './terminal-input.ts';
import type { ChartStyle } from './text/chart-style.ts';
import { useSuspension } from './use-suspension.ts';

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
  const input = new TerminalInput(process.stdin, (event) => pressMouse(state, event));
  keepTypedAhead(process.stdin);
  process.stdin.pipe(input);
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
      stdin: input as unknown as NodeJS.ReadStream,
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
    process.stdin.unpipe(input).pause();
  }
}

/** Ink draws everything again when it gets the terminal back. */
function redraw(): void {}

interface TerminalProps {
  handle: TerminalHandle;
  hasMouse: boolean;
  children: React.ReactNode;
}

function Terminal({ handle, hasMouse, children }: TerminalProps) {
  const { exit } = useApp();
  const suspend = useSuspension();
  const reportsMouse = useRef(false);
  // Runs also when a signal ends the program.
  useLayoutEffect(() => {
    if (!hasMouse) return undefined;
    reportsMouse.current = true;
    process.stdout.write(mouseOn);
    return () => {
      reportsMouse.current = false;
      process.stdout.write(mouseOff);
    };
  }, [hasMouse]);
  useEffect(() => {
    const stop = async () => {
      if (reportsMouse.current) process.stdout.write(mouseOff);
      await stopJob();
      if (reportsMouse.current) process.stdout.write(mouseOn);
    };
    handle.quit = () => exit();
    handle.redraw = () => suspend(redraw);
    handle.suspend = () => suspend(stop);
    handle.copy = (text) => {
      const sequence = clipboardSequence(text);
      if (sequence) process.stdout.write(sequence);
      return sequence !== undefined;
    };
  }, [handle, exit, suspend]);
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
