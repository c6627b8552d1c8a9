import { join } from 'node:path';
import { type Client, createClient } from '../../shared/client.ts';
import { foldersOf } from '../../shared/folders.ts';
import { getKey } from '../addresses.ts';
import { modelOf } from '../commands/respond/request-body.ts';
import type { Context } from '../context.ts';
import { wayTo } from '../hosts/send.ts';
import { openInBrowser } from './browser.ts';
import { CallLog, loggingClient } from './call-log/call-log.ts';
import { keysFileName, loadBindings } from './keys/keys-file.ts';
import { CallStore } from './live/call-store.ts';
import { follower } from './live/follow.ts';
import { keepCurrent } from './live/keep-current.ts';
import { TuiModel } from './model/tui-model.ts';
import { runInTerminal, type TerminalHandle } from './run-in-terminal.tsx';
import type { Services } from './screen.ts';
import { allScreens } from './screens/all-screens.ts';
import { told } from './told.ts';

export interface TuiOptions {
  /** For screen readers: one pane, no drawings, nothing that moves by itself. */
  plain?: true | undefined;
}

/** Runs the terminal program until it is left. Fails before the screen is taken where nobody answers. */
export async function startTui(context: Context, { plain }: TuiOptions): Promise<void> {
  await context.client().call(getKey, {});
  const host = context.host();
  const keyNames = new Map<string, string>();
  const place = { baseUrl: () => context.host().url, workspace: host.workspace, keyNames };
  const screens = allScreens(place);
  const path = join(foldersOf(context).config, keysFileName);
  const bindings = loadBindings(
    path,
    screens.map(({ id }) => id),
  );
  const leaving = new AbortController();
  const terminal: TerminalHandle = {};
  const services = servicesOf(context, { keyNames, onCall: () => model.changed({ soon: true }) });
  const model = new TuiModel({
    screens,
    services,
    bindings,
    isPlain: plain === true,
    explain: (error) => told(error, host),
    copy: (text) => terminal.copy?.(text),
    quit: () => terminal.quit?.(),
    suspend: () => terminal.suspend?.(),
    redraw: () => terminal.redraw?.(),
    baseUrl: () => context.host().url,
    browse: (address) => openInBrowser(address, context),
  });
  const current = keepCurrent({
    model,
    signal: leaving.signal,
    sleep: (ms, signal) => context.sleep(ms, signal),
  });
  try {
    const paint = context.out.paint.stdout;
    const hostFacts = () => ({ name: host.name, url: urlOf(context) ?? host.url });
    await runInTerminal({ model, paint, host: hostFacts, terminal, isPlain: plain === true });
  } finally {
    leaving.abort();
    model.end();
    await current.catch(() => {});
  }
}

function servicesOf(
  context: Context,
  { keyNames, onCall }: { keyNames: Map<string, string>; onCall(): void },
): Services {
  const log = new CallLog();
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
    defaultModel: () => modelOf(context, {}),
    follow: follower({
      now: context.now,
      sleep: (ms, signal) => context.sleep(ms, signal),
      forgetHost() {
        client = undefined;
        context.forgetHost();
      },
    }),
  };
}

/** Unlike that of commands it says nothing on stderr, which is the screen. */
function quietClient(context: Context): Client {
  const host = context.host();
  const { token, workspace } = host;
  return createClient({ ...wayTo(host, context.env), token, workspace });
}

function urlOf(context: Context): string | undefined {
  try {
    return context.host().url;
  } catch {
    return undefined;
  }
}
