import { join } from 'node:path';
import { type Client, createClient } from '../../shared/client.ts';
import { foldersOf } from '../../shared/folders.ts';
import { decisionModel } from '../commands/decide/decide.ts';
import { chooseModel } from '../commands/respond/choose-model.ts';
import { logSearchOf } from '../content/call-content.ts';
import type { Context } from '../context.ts';
import { routeTo } from '../hosts/send.ts';
import { getKey } from '../manifest/endpoints.ts';
import { formatFailure } from './format-failure.ts';
import { keysFileName, loadBindings } from './keys/keys-file.ts';
import { limitMemory } from './limit-memory.ts';
import { openInBrowser } from './open-in-browser.ts';
import { allScreens } from './screens/all-screens.ts';
import { ApiCallLog, loggingClient } from './services/api-call-log.ts';
import { CallStore } from './services/call-store.ts';
import { createFollower } from './services/follower.ts';
import type { Services } from './services/services.ts';
import { TuiState } from './state/tui-state.ts';
import { syncWithDaemon } from './sync.ts';
import { runInTerminal, type TerminalHandle } from './terminal.tsx';

export interface TuiOptions {
  /** For screen readers: one pane, no charts, no automatic updates. */
  plain?: true | undefined;
}

/** Runs the TUI until the user quits. Fails before it takes over the screen if the daemon does not answer. */
export async function startTui(context: Context, { plain }: TuiOptions): Promise<void> {
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
    explain: (error) => formatFailure(error, { isLocal: host.isLocal, commands: context.commands }),
    copy: (text) => terminal.copy?.(text),
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
    await runInTerminal({ state, paint, host: hostLabel, terminal, isPlain: plain === true });
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
    calls: new CallStore(),
    keyNames,
    log,
    now: context.now,
    spending: {},
    searchLog: logSearchOf(context),
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
