import type { RunOptions } from './run-cli.ts';

/** One successful invocation of a command; what it names is created for each run. */
export interface CommandLine {
  /** The words of the command and its arguments. */
  args: string[];
  options?: RunOptions;
}

/** What makes the ids that commands name, by commands: what a path like `.key.id` selects in one's JSON. */
type Get = (args: string[], path: string, options?: RunOptions) => Promise<string>;

interface Sample {
  make(get: Get): CommandLine | Promise<CommandLine>;
  /** Prints text or a document in every output format. */
  isText?: true;
  /** It asks no daemon, or does without. */
  isLocal?: true;
}

const line = (...args: string[]): Sample => ({ make: () => ({ args }) });
const text = (sample: Sample): Sample => ({ ...sample, isText: true });
const local = (sample: Sample): Sample => ({ ...sample, isLocal: true });

/** A command about an object that is created first. */
const about = (words: string[], made: [args: string[], path: string], ...rest: string[]): Sample => ({
  make: async (get) => ({ args: [...words, await get(...made), ...rest] }),
});

/** A wallet with some money. */
const fill = async (get: Get): Promise<void> => {
  await get(['wallet', 'create'], '.wallet.id');
  await get(['wallet', 'faucet', '--sats', '100'], '.id');
};
const invoiceOf = async (get: Get, path: string): Promise<string> => {
  await fill(get);
  return get(['invoice', 'create', '10'], path);
};

let count = 0;
const fresh = (name: string): string => {
  count += 1;
  return `${name}${count}`;
};

/** The creation of a paywall, by someone with a wallet. */
const paywallOf = async (get: Get): Promise<CommandLine> => {
  await fill(get);
  const upstream = ['--upstream', 'https://example.com', '--price', '10'];
  return { args: ['paywalls', 'create', ...upstream, '--path', `/${fresh('swept')}`] };
};
const aboutPaywall = (verb: string, ...rest: string[]): Sample => ({
  make: async (get) => ({
    args: ['paywalls', verb, await get((await paywallOf(get)).args, '.name'), ...rest],
  }),
});

const aKey: [string[], string] = [['keys', 'issue', '--name', 'swept'], '.key.id'];
const aResponse: [string[], string] = [['respond', '-n', '--model', 'sim/echo', 'Hello.'], '.id'];
const aBudget: [string[], string] = [['budgets', 'set', 'team', '5/week'], '.id'];
/** A command about an alert with a web hook that no one serves. */
const aboutAlert = (verb: string, ...rest: string[]): Sample => ({
  make: async (get) => {
    const made = ['alerts', 'add', fresh('quiet'), 'silence', '--webhook', 'http://127.0.0.1:9/in'];
    return { args: ['alerts', verb, await get(made, '.id'), ...rest] };
  },
});
const aRequest: [string[], string] = [['traces', '--limit', '1'], '.[0].request_id'];
const aBackground: [string[], string] = [
  ['respond', '-n', '--model', 'sim/echo', '--background', 'Hello.'],
  '.id',
];
const aThread: [string[], string] = [['threads', 'create', 'Swept'], '.id'];
const aWorkspace: [string[], string] = [['workspaces', 'create', 'Swept'], '.id'];
const aRunnable: [string[], string] = [
  ['autopilots', 'create', 'Swept', '--policy', '{"model":"sim/echo"}'],
  '.id',
];
const anAutopilot: [string[], string] = [['autopilots', 'create', 'Swept'], '.id'];

/** By the words of a command; those that are not here are in `apart`. */
export const commandLines: Record<string, Sample> = {
  status: line('status'),
  'daemons list': line('daemons', 'list'),
  doctor: local(line('doctor')),
  run: local(line('run', '--list')),
  'config get': local(line('config', 'get', 'cache')),
  'config import': local(text(line('config', 'import', 'test/fixtures/litellm.yaml'))),
  'config path': local(text(line('config', 'path'))),
  'config schema': local(text(line('config', 'schema'))),
  'config set': local(line('config', 'set', 'cache.default', 'off')),
  'config unset': local(line('config', 'unset', 'cache.default')),
  'upstreams add': local({
    make: () => ({
      args: ['upstreams', 'add', fresh('swept'), 'https://llm.swept.example/v1', '--models', 'm'],
    }),
  }),
  'upstreams list': local(line('upstreams', 'list')),
  'upstreams remove': local({
    async make(get) {
      const name = fresh('removed');
      await get(['upstreams', 'add', name, 'https://llm.swept.example/v1', '--models', 'm'], '.file');
      return { args: ['upstreams', 'remove', name, '--yes'] };
    },
  }),
  reload: line('reload'),
  respond: text(line('respond', '-n', '--model', 'sim/echo', 'Hello.')),
  compact: text({
    make: () => ({
      args: ['compact', '--model', 'sim/echo'],
      options: { stdin: '[{"role":"user","content":"Hello."}]' },
    }),
  }),
  'decide ask': text(line('decide', 'Is it late?', '--text', 'Eleven at night.', '--model', 'sim/assistant')),
  'decide eval': text(line('decide', 'eval', 'test/fixtures/labelled.jsonl', '--model', 'sim/assistant')),
  'decide fit': line('decide', 'fit', 'test/fixtures/labelled.jsonl', '--model', 'sim/assistant'),
  'engine list': line('engine', 'list'),
  'decide fits': line('decide', 'fits'),
  'decide remove-fit': {
    make: async (get) => {
      const fit = ['decide', 'fit', 'test/fixtures/labelled.jsonl', '--model', 'sim/assistant'];
      return { args: ['decide', 'remove-fit', 'choice', await get(fit, '.[0].model')] };
    },
  },
  embed: text(line('embed', '--model', 'sim/embedding', 'Hello.')),
  'responses get': text(about(['responses', 'get'], aResponse)),
  'responses list': line('responses', 'list'),
  'responses watch': text(about(['responses', 'watch'], aBackground)),
  'responses cancel': about(['responses', 'cancel'], aBackground),
  'responses delete': about(['responses', 'delete'], aResponse, '--yes'),
  'threads list': line('threads', 'list'),
  'threads show': text(about(['threads', 'show'], aThread)),
  'threads create': line('threads', 'create', 'Swept'),
  'threads rename': about(['threads', 'rename'], aThread, 'Swept again'),
  'threads delete': about(['threads', 'delete'], aThread, '--yes'),
  'threads stop': about(['threads', 'stop'], aThread),
  'chats list': line('chats', 'list'),
  'chats runs': about(['chats', 'runs'], aThread),
  'models list': line('models', 'list', '--match', 'sim'),
  'models show': line('models', 'show', 'sim/echo'),
  'models refresh': line('models', 'refresh'),
  rates: line('rates', '--match', 'sim'),
  'usage show': line('usage'),
  'usage series': line('usage', 'series', '--group-by', 'model'),
  'usage latency': line('usage', 'latency', '--group-by', 'model'),
  'usage tokens-served': line('usage', 'tokens-served'),
  'calls list': line('traces', 'list'),
  'providers health': line('providers', 'health'),
  'providers show': line('providers', 'show', 'simulator'),
  'providers retry': line('providers', 'retry', 'simulator'),
  'calls count': line('traces', 'count', '--by', 'model'),
  'calls show': about(['traces', 'show'], aRequest),
  'calls search': line('traces', 'search', 'Hello', '--limit', '1'),
  'calls cancel': about(['traces', 'cancel'], aRequest),
  'calls replay': about(['traces', 'replay'], aRequest),
  'calls diff': {
    make: async (get) => {
      const request = await get(...aRequest);
      return { args: ['traces', 'diff', request, request] };
    },
  },
  'capture status': line('capture'),
  'capture set': line('capture', 'set', 'memory'),
  'capture wire': line('capture', 'wire', '--for', '5m'),
  'capture clear': line('capture', 'clear', '--until', '2020-01-01', '--yes'),
  'keys issue': line('keys', 'issue', '--name', 'swept', '--rpm', '60'),
  'keys list': line('keys', 'list'),
  'keys show': about(['keys', 'show'], aKey),
  'keys limits': about(['keys', 'limits', 'set'], aKey, '--rpm', '5'),
  'keys defaults': about(['keys', 'defaults'], aKey, '--store', 'no'),
  'keys rotate': about(['keys', 'rotate'], aKey, '--grace', '1h'),
  'keys pause': about(['keys', 'pause'], aKey),
  'keys resume': about(['keys', 'resume'], aKey),
  'keys revoke': about(['keys', 'revoke'], aKey, '--yes'),
  'keys default': local(text(line('keys', 'default'))),
  key: line('key'),
  'cache show': line('cache', 'show'),
  'cache clear': line('cache', 'clear'),
  'provider-keys set': {
    make: () => ({
      args: ['provider-keys', 'set', 'openai'],
      options: { stdin: 'sk-example-0123456789abcdef' },
    }),
  },
  'peer add': {
    make: () => ({
      args: ['peer', 'add', 'attic', 'http://127.0.0.1:9', '--key-stdin'],
      options: { stdin: 'gwk_example' },
    }),
  },
  'alerts add': { make: () => ({ args: ['alerts', 'add', fresh('dear'), 'spend', '5', '--window', '1h'] }) },
  'alerts list': line('alerts', 'list'),
  'alerts show': aboutAlert('show'),
  'alerts update': aboutAlert('update', '--window', '2h'),
  'alerts remove': aboutAlert('remove', '--yes'),
  'alerts test': aboutAlert('test'),
  'alerts fired': line('alerts', 'fired'),
  'budgets set': line(
    'budgets',
    'set',
    'team',
    '5/day',
    '--model',
    'sim/assistant',
    '--time-zone',
    'Europe/Berlin',
  ),
  'budgets list': line('budgets', 'list'),
  'budgets check': line('budgets', 'check'),
  'budgets show': about(['budgets', 'show'], aBudget),
  'budgets remove': about(['budgets', 'remove'], aBudget, '--yes'),
  'peer list': line('peer', 'list'),
  'peer check': {
    make: async (get) => {
      await get(['peer', 'add', 'attic', 'http://127.0.0.1:9'], '.name');
      return { args: ['peer', 'check', 'attic'] };
    },
  },
  'peer attempts': line('peer', 'attempts'),
  'peer remove': {
    make: async (get) => {
      await get(['peer', 'add', 'cellar', 'http://127.0.0.1:9'], '.name');
      return { args: ['peer', 'remove', 'cellar', '--yes'] };
    },
  },
  'provider-keys list': line('provider-keys', 'list'),
  'provider-keys check': line('provider-keys', 'check', 'openai'),
  'provider-keys delete': {
    make: async (get) => {
      await get(['provider-keys', 'set', 'vercel'], '.provider', { stdin: 'vck_example0123456789abcdef' });
      return { args: ['provider-keys', 'delete', 'vercel', '--yes'] };
    },
  },
  'vault status': line('vault', 'status'),
  'vault unlock': line('vault', 'unlock'),
  'vault rotate': line('vault', 'rotate', '--to', 'plain', '--yes'),
  'vault export': line('vault', 'export', '--yes'),
  whoami: line('whoami'),
  open: line('open', '--print'),
  'host list': local(line('host', 'list')),
  'sessions list': line('sessions', 'list'),
  'users add': { make: () => ({ args: ['users', 'add', fresh('bob')] }) },
  'users list': line('users', 'list'),
  'users login-code': line('users', 'login-code'),
  'workspaces create': line('workspaces', 'create', 'Swept'),
  'workspaces list': line('workspaces', 'list'),
  'workspaces show': line('workspaces', 'show'),
  'workspaces set': about(['workspaces', 'set', '--name', 'Another'], aWorkspace),
  'workspaces members': line('workspaces', 'members'),
  'workspaces invite': line('workspaces', 'invite'),
  'workspaces invitations': line('workspaces', 'invitations'),
  'workspaces uninvite': about(['workspaces', 'uninvite'], [['workspaces', 'invite'], '.invitation.id']),
  'whispers send': line('whispers', 'send', 'ann', 'Hello.'),
  'whispers list': line('whispers', 'list'),
  'whispers thread': line('whispers', 'thread', 'ann'),
  'whispers read': line('whispers', 'read', '--all'),
  'shouts post': line('shouts', 'post', 'Hello.'),
  'shouts list': line('shouts', 'list'),
  'shouts delete': about(['shouts', 'delete'], [['shouts', 'post', 'Gone.'], '.id'], '--yes'),
  zones: line('zones'),
  'autopilots create': line('autopilots', 'create', 'Swept'),
  'autopilots list': line('autopilots', 'list'),
  'autopilots directory': line('autopilots', 'directory'),
  'autopilots show': about(['autopilots', 'show'], anAutopilot),
  'autopilots update': about(['autopilots', 'update'], anAutopilot, '--tagline', 'Here.'),
  'autopilots run': {
    make: async (get) => ({
      args: ['autopilots', 'run', await get(aRunnable[0], aRunnable[1]), '-n', 'Hello.'],
    }),
  },
  'autopilots runs': about(['autopilots', 'runs'], anAutopilot),
  'autopilots cancel': {
    make: async (get) => {
      const autopilot = await get(aRunnable[0], aRunnable[1]);
      const run = await get(['autopilots', 'run', autopilot, '-n', 'Hello.'], '.id');
      return { args: ['autopilots', 'cancel', autopilot, run] };
    },
  },
  'autopilots archive': about(['autopilots', 'archive'], anAutopilot, '--yes'),
  'profile show': line('profile', 'show'),
  'profile set': line('profile', 'set', '--name', 'Owner'),
  'tokens create': { make: () => ({ args: ['tokens', 'create', fresh('swept')] }) },
  'tokens list': line('tokens', 'list'),
  'tokens revoke': about(['tokens', 'revoke'], [['tokens', 'create', 'swept'], '.id'], '--yes'),
  'wallet create': line('wallet', 'create'),
  'wallet backend': line('wallet', 'backend'),
  'wallet reconcile': line('wallet', 'reconcile'),
  'wallet phrase': { make: (get) => fill(get).then(() => ({ args: ['wallet', 'phrase'] })) },
  'wallet balance': { make: (get) => fill(get).then(() => ({ args: ['wallet', 'balance'] })) },
  'wallet faucet': { make: (get) => fill(get).then(() => ({ args: ['wallet', 'faucet', '--sats', '5'] })) },
  'paywalls create': { make: async (get) => ({ args: (await paywallOf(get)).args }) },
  'paywalls list': line('paywalls', 'list'),
  'paywalls show': aboutPaywall('show'),
  'paywalls pause': aboutPaywall('pause'),
  'paywalls resume': aboutPaywall('resume'),
  'paywalls delete': aboutPaywall('delete', '--yes'),
  'paywalls export': text(line('paywalls', 'export', '--format', 'aperture')),
  'invoice create': {
    make: (get) => fill(get).then(() => ({ args: ['invoice', 'create', '10', '--description', 'Tea'] })),
  },
  'invoice list': line('invoice', 'list'),
  'invoice show': { make: async (get) => ({ args: ['invoice', 'show', await invoiceOf(get, '.id')] }) },
  pay: {
    make: async (get) => ({ args: ['pay', await invoiceOf(get, '.paymentRequest'), '--max-sats', '10'] }),
  },
  fetch: local(
    text({ make: async (get) => ({ args: ['fetch', `${await get(['status'], '.url')}/healthz`] }) }),
  ),
  'payments list': line('payments', 'list'),
  'payments show': {
    make: async (get) => {
      const invoice = await invoiceOf(get, '.paymentRequest');
      return { args: ['payments', 'show', await get(['pay', invoice, '--max-sats', '10'], '.paymentId')] };
    },
  },
  'credit show': line('credit', 'show'),
  'credit buy': {
    make: (get) => fill(get).then(() => ({ args: ['credit', 'buy', '--sats', '10', '--no-wait'] })),
  },
  'credit grant': line('credit', 'grant', 'me', '1'),
  'ledger verify': line('ledger', 'verify'),
  openapi: text(line('openapi')),
};

/** Commands that end or change what the others need, or run until stopped; tested elsewhere. */
export const apart = [
  ...['agents sign-up', 'agents me'],
  // Of a daemon that has ended: see e2e/daemons.full.test.ts.
  'daemons remove',
  // Of a stopped daemon: see commands/storage.test.ts.
  'storage copy',
  ...['serve', 'stop', 'backup', 'restore', 'service install', 'service uninstall', 'service status'],
  ...['chat', 'tui', 'mcp', 'completion'],
  // They need a library of their own: see embedded-engine.full.test.ts.
  ...['engine install', 'engine add', 'engine check', 'engine remove'],
  ...['logs', 'tail', 'alerts watch', 'threads watch', 'whispers watch', 'shouts watch', 'peer watch'],
  ...['login', 'logout', 'host add', 'host use', 'host remove', 'sessions revoke', 'profile delete'],
  // Its formats are options.
  'calls export',
  // Imports only into an empty wallet.
  'wallet import',
  ...['wallet connect', 'wallet fund', 'wallet disconnect', 'wallet trust-node', 'payments resolve'],
  ...['workspaces use', 'workspaces role', 'workspaces remove', 'workspaces accept', 'workspaces leave'],
];
