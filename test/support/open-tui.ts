import { render } from 'ink-testing-library';
import { createElement } from 'react';
import { onTestFinished } from 'vitest';
import { painter } from '../../src/cli/output/style.ts';
import { App } from '../../src/cli/tui/app.tsx';
import { CallLog, loggingClient } from '../../src/cli/tui/call-log/call-log.ts';
import { type BindingsByMode, defaultBindings } from '../../src/cli/tui/keys/bindings.ts';
import { CallStore } from '../../src/cli/tui/live/call-store.ts';
import { TuiModel } from '../../src/cli/tui/model/tui-model.ts';
import { allScreens } from '../../src/cli/tui/screens/all-screens.ts';
import type { Client } from '../../src/shared/client.ts';
import { eventually } from './eventually.ts';

export interface Asked {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** What the service answers, by `METHOD /path/{as}/{the}/contract/writes/it`. */
export type Answers = Record<string, (asked: Asked) => unknown>;

interface OpenOptions {
  answers?: Answers;
  columns?: number;
  rows?: number;
  bindings?: BindingsByMode;
  isPlain?: boolean;
  isColoured?: boolean;
  now?: () => number;
}

export const keys = {
  enter: '\r',
  escape: '\u001b',
  down: '\u001b[B',
  up: '\u001b[A',
  pageDown: '\u001b[6~',
  tab: '\t',
  ctrlD: '\u0004',
  ctrlU: '\u0015',
} as const;

/** The program on a terminal that only a test looks at, with a service that answers from a table. */
export function openTui(options: OpenOptions = {}) {
  const { answers = {}, columns = 80, rows = 24, isPlain = false } = options;
  const now = options.now ?? Date.now;
  const log = new CallLog();
  const calls = new CallStore();
  const copied: string[] = [];
  const done = { quit: 0, suspended: 0 };
  const services = {
    client: loggingClient({ client: () => tableClient(answers), log, now, onChange() {} }),
    calls,
    log,
    now,
  };
  const model: TuiModel = new TuiModel({
    screens: allScreens({ baseUrl: () => 'http://127.0.0.1:4100', workspace: undefined }),
    services,
    bindings: options.bindings ?? defaultBindings,
    isPlain,
    explain: (error) => (error as Error).message,
    copy: (text) => void copied.push(text),
    quit: () => void done.quit++,
    suspend: () => void done.suspended++,
    redraw() {},
  });
  const host = () => ({ name: 'local', url: 'http://127.0.0.1:4100' });
  const paint = painter(options.isColoured ?? false);
  const app = (size: { columns: number; rows: number }) => createElement(App, { model, paint, host, size });
  const terminal = render(app({ columns, rows }));
  onTestFinished(() => {
    model.end();
    terminal.unmount();
  });
  const frame = () => terminal.lastFrame() ?? '';
  return {
    model,
    calls,
    log,
    copied,
    done,
    frame,
    lines: () => frame().split('\n'),
    resize: (size: { columns: number; rows: number }) => terminal.rerender(app(size)),
    type: (text: string) => terminal.stdin.write(text),
    /** Waits until the screen shows this. */
    shows: (text: string | RegExp) =>
      eventually(`${text} in\n${frame()}`, () =>
        typeof text === 'string' ? frame().includes(text) : text.test(frame()),
      ),
  };
}

function tableClient(answers: Answers): Client {
  return {
    async call(endpoint: { method: string; path: string }, input: object) {
      const answer = answers[`${endpoint.method} ${endpoint.path}`];
      if (!answer) throw new Error(`not expected: ${endpoint.method} ${endpoint.path}`);
      return answer(input);
    },
    async *stream() {},
  } as unknown as Client;
}
