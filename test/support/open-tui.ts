import { setTimeout as delay } from 'node:timers/promises';
import { createElement } from 'react';
import { onTestFinished } from 'vitest';
import { commandIndex } from '../../src/cli/manifest/command-index.ts';
import { painter } from '../../src/cli/output/style.ts';
import { App } from '../../src/cli/tui/app.tsx';
import { type BindingsByScreen, defaultBindings } from '../../src/cli/tui/keys/bindings.ts';
import { allScreens } from '../../src/cli/tui/screens/all-screens.ts';
import { ApiCallLog, loggingClient } from '../../src/cli/tui/services/api-call-log.ts';
import { createFollower } from '../../src/cli/tui/services/follower.ts';
import type { Services } from '../../src/cli/tui/services/services.ts';
import { callsMax } from '../../src/cli/tui/services/services.ts';
import { TuiState } from '../../src/cli/tui/state/tui-state.ts';
import { followRowStreams } from '../../src/cli/tui/sync.ts';
import type { Client } from '../../src/shared/client.ts';
import type { SseEvent } from '../../src/shared/http/sse.ts';
import { LiveCalls } from '../../src/view/live-calls.ts';
import { eventually } from './eventually.ts';
import { openTerminal } from './virtual-terminal.ts';

export interface TestCall {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Responses by `METHOD /path/{of}/{the}/contract`. */
export type Answers = Record<string, (call: TestCall) => unknown>;

interface OpenOptions {
  answers?: Answers;
  columns?: number;
  rows?: number;
  bindings?: BindingsByScreen;
  isPlain?: boolean;
  /** Events of streams, by the same names. */
  streams?: Record<string, (lastId: string | undefined, call: TestCall) => AsyncIterable<SseEvent>>;
  isColoured?: boolean;
  now?: () => number;
  /** The screen to start with. */
  screen?: string;
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

/** The TUI on a virtual terminal, with a daemon that responds from a table. */
export function openTui(options: OpenOptions = {}) {
  const { answers = {}, columns = 80, rows = 24, isPlain = false } = options;
  const now = options.now ?? Date.now;
  const log = new ApiCallLog();
  const calls = new LiveCalls({ max: callsMax });
  const copied: string[] = [];
  const done = { quit: 0, suspended: 0 };
  const browsed: string[] = [];
  const quitting = new AbortController();
  const client = tableClient(answers, options.streams ?? {});
  const keyNames = new Map<string, string>();
  const services: Services = {
    client: loggingClient({ client: () => client, log, now, onChange() {} }),
    calls,
    keyNames,
    log,
    now,
    spending: {},
    defaultModel: async () => 'sim/assistant',
    follow: createFollower({
      now,
      sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
      forgetHost() {},
    }),
  };
  const state: TuiState = new TuiState({
    screens: allScreens({
      baseUrl: () => 'http://127.0.0.1:4100',
      workspace: undefined,
      keyNames,
      commands: commandIndex,
      decisionModel: 'service/decide',
    }),
    services,
    bindings: options.bindings ?? defaultBindings,
    isPlain,
    explain: (error) => (error as Error).message,
    copy: (text) => copied.push(text) > 0,
    quit: () => void done.quit++,
    suspend: () => void done.suspended++,
    redraw() {},
    baseUrl: () => 'http://127.0.0.1:4100',
    browse: async (address) => browsed.push(address) > 0,
  });
  state.current = state.views.findIndex(({ screen }) => screen.id === (options.screen ?? 'traffic'));
  const host = () => ({ name: 'local', url: 'http://127.0.0.1:4100' });
  const paint = painter(options.isColoured ?? false);
  const app = (size: { columns: number; rows: number }) => createElement(App, { state, paint, host, size });
  const terminal = openTerminal(app, { columns, rows });
  onTestFinished(() => {
    quitting.abort();
    state.end();
    terminal.close();
  });
  const { frame } = terminal;
  return {
    state,
    calls,
    log,
    copied,
    browsed,
    done,
    /** Follows the row streams of the loaded screens. */
    follow: () => followRowStreams(state, quitting.signal),
    frame,
    lines: () => frame().split('\n'),
    resize: terminal.resize,
    type: terminal.type,
    /** Waits until the screen shows a text. */
    shows: (text: string | RegExp) =>
      eventually(`${text}`, () =>
        typeof text === 'string' ? frame().includes(text) : text.test(frame()),
      ).catch((error: Error) => {
        throw new Error(`${error.message} in\n${frame()}`);
      }),
  };
}

function tableClient(answers: Answers, streams: NonNullable<OpenOptions['streams']>): Client {
  return {
    async call(endpoint: { method: string; path: string }, input: object) {
      const answer = answers[`${endpoint.method} ${endpoint.path}`];
      if (!answer) throw new Error(`unexpected call: ${endpoint.method} ${endpoint.path}`);
      return answer(input);
    },
    async *stream(
      endpoint: { method: string; path: string },
      input: TestCall & { headers?: Record<string, string | undefined> },
      { onOpen, signal }: { onOpen?: (headers: Record<string, string>) => void; signal?: AbortSignal } = {},
    ) {
      const stream = streams[`${endpoint.method} ${endpoint.path}`];
      if (!stream) return;
      onOpen?.({});
      for await (const event of stream(input.headers?.['last-event-id'], input)) {
        if (signal?.aborted) return;
        yield event;
        if (signal?.aborted) return;
      }
    },
  } as unknown as Client;
}
