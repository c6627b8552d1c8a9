import { render, useApp } from 'ink';
import { useEffect } from 'react';
import type { Paint } from '../output/style.ts';
import { App } from './app.tsx';
import { clipboardSequence } from './clipboard.ts';
import type { HostFacts } from './components/head-lines.ts';
import type { TuiModel } from './model/tui-model.ts';

/** What the running program can do with its terminal; set while it has one. */
export interface TerminalHandle {
  copy?(text: string): void;
  quit?(): void;
  suspend?(): void;
  redraw?(): void;
}

interface RunOptions {
  model: TuiModel;
  paint: Paint;
  host: () => HostFacts;
  terminal: TerminalHandle;
  isPlain: boolean;
}

/** What changes by itself is told ten times a second at most; keys are answered sooner. */
const framesPerSecond = 30;

/** Draws the program until it is left, and gives the terminal back as it was, also after a crash. */
export async function runInTerminal({ model, paint, host, terminal, isPlain }: RunOptions): Promise<void> {
  const instance = render(
    <Terminal handle={terminal}>
      <App model={model} paint={paint} host={host} />
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
    handle.suspend = () => void suspendTerminal(stopUntilContinued);
    handle.copy = (text) => {
      const sequence = clipboardSequence(text);
      if (sequence) process.stdout.write(sequence);
    };
  }, [handle, exit, suspendTerminal]);
  return children;
}

/** How soon after the stop it goes on; no time passes in between. */
const continuedMs = 50;

/** Stops the whole job, as Ctrl-Z does where the terminal itself sees it, and goes on when the shell lets it. */
function stopUntilContinued(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, continuedMs);
    process.kill(0, 'SIGTSTP');
  });
}
