import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Peer, type PeerAttempt, type PeerCheck, peerNamePattern } from '../../shared/contract/peers.ts';
import { checkPeer, deletePeer, listPeerAttempts, listPeers, putPeer } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { isoTime } from '../../shared/time/time.ts';
import { ago, duration } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { noSuch } from '../failures/no-such.ts';
import { resolveWorkspace } from '../names/resolve.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { askSecret, confirm } from '../terminal/prompts.ts';

const ofWorkspace = [
  '--workspace <workspace>',
  'the workspace whose decisions may use the peer',
  'me',
] as const;

function peerName(text: string): string {
  if (new RegExp(peerNamePattern).test(text)) return text;
  throw new InvalidArgumentError('It must be up to 64 lowercase letters, digits, _ and -, like attic.');
}

export const addPeerCommand = (context: Context) =>
  new Command('add')
    .argument('<name>', 'a name of your choice; answers name it peer:<name>', peerName)
    .argument('<url>', 'the address of the server')
    .option('--key-stdin', 'read the API key of the peer from a pipe or a hidden prompt')
    .option('--from-env <name>', 'the environment variable with the API key of the peer')
    .addOption(new Option('--no-key', 'forget the stored key').conflicts(['keyStdin', 'fromEnv']))
    .option('--models <names>', 'the models it may be asked for, separated by commas; default: all')
    .option(
      '--max-in-flight <number>',
      'how many decisions it is asked at the same time; default: 4',
      wholeNumber({ min: 1, max: 64 }),
    )
    .option('--disabled', 'do not ask it for now')
    .option(
      '--insecure-http',
      'allow http to another machine: others in the network can read questions and key',
    )
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway peer add attic https://attic.example.com --from-env ATTIC_KEY'))
    .action(async (name, url, flags) => {
      const { fromEnv, keyStdin } = flags;
      const asksForKey = keyStdin || fromEnv !== undefined;
      const key = asksForKey ? await askSecret(context, { prompt: `Key for ${name}`, fromEnv }) : undefined;
      const params = { workspace: await resolveWorkspace(context, flags.workspace), peer: name };
      const body = {
        url,
        ...(key !== undefined && { key }),
        ...(flags.key === false && { key: null }),
        ...(flags.models !== undefined && { models: flags.models.split(',').map((each) => each.trim()) }),
        ...(flags.maxInFlight !== undefined && { max_in_flight: flags.maxInFlight }),
        ...(flags.disabled && { enabled: false }),
        ...(flags.insecureHttp && { insecure_http: true }),
      };
      const peer = await context.client().call(putPeer, { params, body });
      const columns = peerColumns(context.now());
      await context.out.record(peer, columns, { pipedRow: columns });
      context.out.note(`To check that it answers: gateway peer check ${name}`);
    });

export const listPeersCommand = (context: Context) =>
  new Command('list')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway peer list --json=name,status,reason'))
    .action(async ({ workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const { data } = await context.client().call(listPeers, { params });
      const empty = 'No peers yet: gateway peer add <name> <url>';
      await context.out.table(data, peerColumns(context.now()), { empty });
    });

export const watchPeersCommand = (context: Context) =>
  new Command('watch')
    .option('--interval <seconds>', 'how long to wait between checks', wholeNumber({ min: 1, max: 3600 }), 2)
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway peer watch --jq \'select(.status != "healthy") | .name\''))
    .action(async ({ interval, workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const isScreen = context.io.stdout.isTty && !context.out.wantsJson();
      if (!isScreen) context.out.note(`Following ${context.host().url}. Press Ctrl-C to stop.`);
      const interrupted = context.interrupted();
      const shown = new Map<string, string>();
      while (!interrupted.aborted) {
        const { data } = await context.client().call(listPeers, { params }, { signal: interrupted });
        if (isScreen) await showScreen(context, data, interval);
        else await showChanged(context, data, shown);
        await context.sleep(interval * 1000, interrupted).catch(() => {});
      }
      context.exit = exitCodes.interrupted;
    });

const clearScreen = '\u001b[H\u001b[J';

/** Replaces what the terminal shows. */
async function showScreen(context: Context, peers: Peer[], interval: number): Promise<void> {
  const now = context.now();
  context.io.stdout.write(clearScreen);
  await context.out.table(peers, peerColumns(now), { empty: 'No peers yet: gateway peer add <name> <url>' });
  context.out.note(`\n${isoTime(now)}, every ${interval} s. Press Ctrl-C to stop.`);
}

/** Prints the peers that changed since they were shown last, and the names of those that were removed. */
async function showChanged(context: Context, peers: Peer[], shown: Map<string, string>): Promise<void> {
  const removed = [...shown.keys()].filter((name) => !peers.some((peer) => peer.name === name));
  for (const name of removed) {
    shown.delete(name);
    context.out.note(`The peer ${name} was removed.`);
  }
  for (const peer of peers) {
    const state = JSON.stringify(peer);
    if (shown.get(peer.name) === state) continue;
    shown.set(peer.name, state);
    if (context.out.wantsJson()) await context.out.element(peer);
    else await context.out.table([peer], peerColumns(context.now()), { empty: '' });
  }
}

export const checkPeerCommand = (context: Context) =>
  new Command('check')
    .argument('<name>', 'the peer')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway peer check attic && echo good'))
    .action(async (name, { workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), peer: name };
      const check = await context.client().call(checkPeer, { params });
      await context.out.record(check, checkColumns, { pipedRow: checkColumns });
      context.exit = check.result === 'good' ? exitCodes.done : exitCodes.tryLater;
    });

export const removePeerCommand = (context: Context) =>
  new Command('remove')
    .argument('<name>', 'the peer')
    .option(...ofWorkspace)
    .addOption(yesOption())
    .addHelpText('after', example('gateway peer remove attic --yes'))
    .action(async (name, { workspace, yes }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), peer: name };
      const find = () => requirePeer(context, params.workspace, name);
      await confirm(context, `Remove the peer ${name} and its key?`, { yes, find });
      const removed = await context.client().call(deletePeer, { params });
      return context.out.done(removed, `Removed the peer ${name}.`);
    });

export const listPeerAttemptsCommand = (context: Context) =>
  new Command('attempts')
    .argument('[name]', 'only calls to this peer')
    .option(...ofWorkspace)
    .option('--limit <number>', 'how many calls, newest first', wholeNumber({ min: 1, max: 200 }), 50)
    .addHelpText('after', example('gateway peer attempts attic --limit 10'))
    .action(async (name, { workspace, limit }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const query = { limit, ...(name !== undefined && { peer: name }) };
      const { data } = await context.client().call(listPeerAttempts, { params, query });
      // A removed peer keeps its calls, so only a name without any can be wrong.
      if (name !== undefined && data.length === 0) await requirePeer(context, params.workspace, name);
      const empty = 'No calls to peers yet: gateway decide --order peer "…"';
      await context.out.table(data, attemptColumns(context.now()), { empty });
    });

/** Rejects the name of a peer that the workspace does not have. */
async function requirePeer(context: Context, workspace: string, name: string): Promise<void> {
  const { data } = await context.client().call(listPeers, { params: { workspace } });
  if (data.some((peer) => peer.name === name)) return;
  throw noSuch('peer', name, 'gateway peer list');
}

const statusStyles = {
  unknown: 'dim',
  healthy: 'green',
  degraded: 'yellow',
  benched: 'red',
  disabled: 'dim',
} as const;

const peerColumns = (now: number): Column<Peer>[] => [
  { title: 'name', value: (peer) => peer.name },
  {
    title: 'status',
    value: (peer) => peer.status,
    show: ({ status, reason, benched_until: until }) => {
      const wait = until === null ? '' : ` ${duration(Math.max(0, Date.parse(until) - now))}`;
      return `${status}${wait}${reason === null ? '' : `: ${reason}`}`;
    },
    style: (peer) => statusStyles[peer.status],
  },
  {
    title: 'models',
    value: (peer) => peer.models.map(({ id, identity }) => identity ?? id).join(','),
    isSpare: true,
  },
  {
    title: 'latency_ms',
    value: (peer) => peer.latency_ms,
    show: (peer) => duration(peer.latency_ms),
    align: 'right',
  },
  { title: 'answered', value: (peer) => peer.answered, align: 'right' },
  { title: 'failed', value: (peer) => peer.failed, align: 'right' },
  {
    title: 'agreement',
    value: ({ agreement }) => agreementOf(agreement),
    show: ({ agreement }) => agreementText(agreement),
    align: 'right',
    isSpare: true,
  },
  {
    title: 'last_seen_at',
    label: 'last seen',
    value: (peer) => peer.last_seen_at,
    show: (peer) => (peer.last_seen_at === null ? 'never' : ago(peer.last_seen_at, now)),
  },
  { title: 'url', value: (peer) => peer.url, isSpare: true },
];

const checkColumns: Column<PeerCheck>[] = [
  { title: 'name', value: (check) => check.name },
  {
    title: 'result',
    value: (check) => check.result,
    style: (check) => (check.result === 'good' ? 'green' : 'red'),
  },
  { title: 'message', value: (check) => check.message },
  { title: 'card_ms', value: (check) => check.card_ms },
  { title: 'decision_ms', value: (check) => check.decision_ms },
  {
    title: 'agreement',
    value: ({ agreement }) => agreementOf(agreement),
    show: ({ agreement }) => agreementText(agreement),
  },
];

/** The share of compared answers that were the same, rounded to a thousandth; null if none were compared. */
function agreementOf({ compared, agreed }: Peer['agreement']): number | null {
  return compared === 0 ? null : Math.round((1000 * agreed) / compared) / 1000;
}

function agreementText({ compared, agreed }: Peer['agreement']): string {
  return compared === 0 ? '-' : `${agreed} of ${compared}`;
}

const attemptColumns = (now: number): Column<PeerAttempt>[] => [
  { title: 'request_id', value: (attempt) => attempt.request_id },
  { title: 'peer', value: (attempt) => attempt.peer },
  {
    title: 'outcome',
    value: (attempt) => attempt.outcome,
    style: ({ outcome }) => (outcome === 'answered' ? 'green' : outcome === 'canceled' ? 'dim' : 'red'),
  },
  { title: 'code', value: (attempt) => attempt.code, isSpare: true },
  { title: 'hedged', value: (attempt) => attempt.hedged, isSpare: true },
  { title: 'ms', value: (attempt) => attempt.ms, show: ({ ms }) => duration(ms), align: 'right' },
  {
    title: 'created_at',
    label: 'when',
    value: (attempt) => attempt.created_at,
    show: (attempt) => ago(attempt.created_at, now),
  },
];
