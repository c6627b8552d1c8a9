import { render, useApp } from 'ink';
import { useEffect } from 'react';
import type { Paint } from '../output/style.ts';
import { App } from './app.tsx';
import type { HostLabel } from './components/header.ts';
import type { TuiState } from './state/tui-state.ts';

/** What the program can do with its terminal; the members are set while it is mounted. */
export interface TerminalHandle {
  copy?(text: string): void;
  quit?(): void;
  suspend?(): void;
  redraw?(): void;
}

interface RunOptions {
  state: TuiState;
  paint: Paint;
  host: () => HostLabel;
  terminal: TerminalHandle;
  isPlain: boolean;
}

/** Upper bound for redraws; background changes are limited further by the state itself. */
const framesPerSecond = 30;

/** Renders the TUI until the user quits, and restores the terminal even after a crash. */
export async function runInTerminal({ state, paint, host, terminal, isPlain }: RunOptions): Promise<void> {
  const instance = render(
    <Terminal handle={terminal}>
      <App state={state} paint={paint} host={host} />
    </Terminal>,
    {
      alternateScreen: !isPlain,
      incrementalRendering: !isPlain,
      isScreenReaderEnabled: isPlain,
      interactive: true,
      maxFps: framesPerSecond,
      exitOnCtrlC: false,
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
  }
}

function Terminal({ handle, children }: { handle: TerminalHandle; children: React.ReactNode }) {
  const { exit, suspendTerminal } = useApp();
  useEffect(() => {
    handle.quit = () => exit();
    handle.redraw = () => void suspendTerminal(() => {});
    handle.suspend = () => void suspendTerminal(stopProcessGroup);
    handle.copy = (text) => {
      const sequence = clipboardSequence(text);
      if (sequence) process.stdout.write(sequence);
    };
  }, [handle, exit, suspendTerminal]);
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
