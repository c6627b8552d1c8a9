import { join } from 'node:path';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { type Client, createClient } from '../../shared/client.ts';
import { getKey } from '../../shared/endpoints.ts';
import { foldersOf } from '../../shared/folders.ts';
import { LiveCalls } from '../../view/live-calls.ts';
import { decisionModel } from '../commands/decide/choose-decision-model.ts';
import { chooseModel } from '../commands/respond/choose-model.ts';
import type { Context } from '../context.ts';
import { routeTo } from '../hosts/send.ts';
import { openInBrowser } from '../terminal/browser.ts';
import { formatFailure } from './format-failure.ts';
import { keysFileName, loadBindings } from './keys/keys-file.ts';
import { allScreens } from './screens/all-screens.ts';
import { keyFlags } from './screens/keys.ts';
import { ApiCallLog, loggingClient } from './services/api-call-log.ts';
import { createFollower } from './services/follower.ts';
import type { Services } from './services/services.ts';
import { callsMax } from './services/services.ts';
import { TuiState } from './state/tui-state.ts';
import { syncWithDaemon } from './sync.ts';
import { runInTerminal, type TerminalHandle } from './terminal.tsx';
import { chartStyleOf } from './text/chart-style.ts';

export interface TuiOptions {
  /** For screen readers: one pane, no charts, no automatic updates. */
  plain?: true | undefined;
  /** False leaves the mouse to the terminal. */
  mouse?: boolean | undefined;
}

/** Runs the TUI until the user quits. Fails before it takes over the screen if the daemon does not answer. */
export async function startTui(context: Context, { plain, mouse }: TuiOptions): Promise<void> {
  await context.client().call(getKey, {});
  limitMemory();
  const host = context.host();
  const keyNames = new Map<string, string>();
  const screenOptions = {
    baseUrl: () => context.host().url,
    workspace: host.workspace,
    keyNames,
    commands: context.commands,
    decisionModel: decisionModel(context, undefined),
  };
  const screens = allScreens(screenOptions);
  const path = join(foldersOf(context).config, keysFileName);
  const bindings = loadBindings(
    path,
    screens.map(({ id }) => id),
  );
  const leaving = new AbortController();
  const terminal: TerminalHandle = {};
  const services = servicesOf(context, { keyNames, onCall: () => state.changed({ soon: true }) });
  const state = new TuiState({
    screens,
    services,
    bindings,
    isPlain: plain === true,
    explain: (error) =>
      formatFailure(error, { isLocal: host.isLocal, commands: context.commands, inputs: keyFlags }),
    copy: (text) => terminal.copy?.(text) === true,
    quit: () => terminal.quit?.(),
    suspend: () => terminal.suspend?.(),
    redraw: () => terminal.redraw?.(),
    baseUrl: () => context.host().url,
    browse: (address) => openInBrowser(address, context),
  });
  const syncing = syncWithDaemon({
    state,
    signal: leaving.signal,
    sleep: (ms, signal) => context.sleep(ms, signal),
  });
  try {
    const paint = context.out.paint.stdout;
    const hostLabel = () => ({ name: host.name, url: urlOf(context) ?? host.url });
    const charts = chartStyleOf(context.env, { hasColours: paint('bold', '') !== '' });
    const isPlain = plain === true;
    await runInTerminal({
      state,
      paint,
      charts,
      host: hostLabel,
      terminal,
      isPlain,
      hasMouse: mouse !== false && !isPlain,
    });
  } finally {
    leaving.abort();
    state.end();
    await syncing.catch(() => {});
  }
}

function servicesOf(
  context: Context,
  { keyNames, onCall }: { keyNames: Map<string, string>; onCall(): void },
): Services {
  const log = new ApiCallLog();
  let client: Client | undefined;
  return {
    client: loggingClient({
      client: () => (client ??= quietClient(context)),
      log,
      now: context.now,
      onChange: onCall,
    }),
    calls: new LiveCalls({ max: callsMax }),
    keyNames,
    log,
    now: context.now,
    spending: {},
    defaultModel: async () => (await chooseModel(context, {})).model,
    follow: createFollower({
      now: context.now,
      sleep: (ms, signal) => context.sleep(ms, signal),
      forgetHost() {
        client = undefined;
        context.forgetHost();
      },
    }),
  };
}

/** Unlike the client of the commands it writes nothing to stderr, which is the screen. */
function quietClient(context: Context): Client {
  const host = context.host();
  const { token, workspace } = host;
  return createClient({ ...routeTo(host, context.env), token, workspace });
}

function urlOf(context: Context): string | undefined {
  try {
    return context.host().url;
  } catch {
    return undefined;
  }
}

/** Smaller, objects that live for a moment would count as old, and be collected late. */
const newSpaceBytes = 8 * 1024 * 1024;
const checkEveryMs = 100;

/**
 * Keeps V8 from growing its heap instead of collecting it: redraws allocate much and keep little. By default, its space for
 * new objects reaches 128 MB, and that for old ones a multiple of what is in use.
 */
function limitMemory(): void {
  setFlagsFromString('--heap-growing-percent=50');
  // The size of the space for new objects can only be fixed at what it is.
  const timer = setInterval(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (space && space.space_size < newSpaceBytes) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    clearInterval(timer);
  }, checkEveryMs).unref();
}
