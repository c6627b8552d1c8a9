import { lstatSync, type Stats } from 'node:fs';
import { createServer } from 'node:net';
import { listenDefaults } from '../../../shared/constants/listen-defaults.ts';
import type { DaemonStatus } from '../../../shared/contract/daemon.ts';
import { checkCollector, checkProviders, getStatus, getWalletBackend } from '../../../shared/endpoints.ts';
import type { ErrorCode } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { version, versionHeader } from '../../../shared/version.ts';
import type { Context } from '../../context.ts';
import { explain, isLocalHost } from '../../explain.ts';
import { isLocalDown } from '../../hosts/hosts.ts';
import { send } from '../../hosts/send.ts';
import { vaultText } from '../../output/vault-text.ts';
import { type DoctorOptions, type Finding, readSettings } from './finding.ts';

/** Reports the daemon's own status if it responds; otherwise whether it could start. */
export async function checkDaemon(context: Context): Promise<Finding[]> {
  if (isLocalDown(context)) {
    return [
      { check: 'daemon', state: 'warning', message: 'not running', remedy: 'gateway serve' },
      await checkPort(context),
    ];
  }
  try {
    let status = await context.client().call(getStatus, {});
    if (status.wallet.backend !== 'embedded')
      status = { ...status, wallet: await context.client().call(getWalletBackend, {}) };
    return [...findingsOf(status), ...(context.host().isLocal ? socketFindings(status) : [])];
  } catch (error) {
    if (error instanceof ReceivedError && /^(signed_out|permission)$/.test(error.code))
      return [runningButHidden(context, error.code)];
    const { sentence, details } = explain(error, { isLocal: isLocalHost(context) });
    const next = details.find(([name]) => name === 'next')?.[1];
    return [{ check: 'daemon', state: 'broken', message: sentence, remedy: next ?? 'gateway serve' }];
  }
}

/** Only the host's admin may see its status; being refused still shows that it is running. */
function runningButHidden(context: Context, code: ErrorCode): Finding {
  return {
    check: 'daemon',
    state: 'ok',
    message: `${context.host().url} responds, but shows its status only to ${code === 'signed_out' ? 'a login' : 'its admin'}`,
    remedy: code === 'signed_out' ? 'To see more, run this without GATEWAY_KEY.' : null,
  };
}

function findingsOf(status: DaemonStatus): Finding[] {
  const isSameVersion = status.version === version;
  const { storage } = status;
  return [
    { check: 'daemon', state: 'ok', message: `${status.url}, process ${status.pid}`, remedy: null },
    {
      check: 'version',
      state: isSameVersion ? 'ok' : 'warning',
      message: isSameVersion ? version : `daemon ${status.version}, command ${version}`,
      remedy: isSameVersion ? null : 'Restart the daemon: gateway stop, then gateway serve',
    },
    ...storageFindings(storage),
    vaultFinding(status),
    ...backendFindings(status),
    ...providerFindings(status),
  ];
}

function daemonsOf({ daemons }: { daemons: number }): string {
  return daemons === 1 ? '1 daemon' : `${daemons} daemons`;
}

function storageFindings({ writable, reason, server }: DaemonStatus['storage']): Finding[] {
  const state = writable ? 'writable' : (reason ?? 'not writable');
  const remedy = server
    ? 'Check the server and the connection to it; see docs/postgresql.md.'
    : 'Free disk space, close the program that locks the database, or repair the data and restart.';
  const of =
    server &&
    `PostgreSQL ${server.version}, ${server.address}, schema ${server.schema_version}, ${daemonsOf(server)}`;
  return [
    {
      check: 'storage',
      state: writable ? 'ok' : 'broken',
      message: of ? `${state}: ${of}` : state,
      remedy: writable ? null : remedy,
    },
    ...(server?.warnings ?? []).map(
      (message): Finding => ({
        check: 'storage',
        state: 'warning',
        message,
        remedy: 'Turn it on in postgresql.conf, reload the server, and restart the daemon.',
      }),
    ),
  ];
}

/** Whether the daemon's Unix socket still exists: cleaning up a folder may have deleted it. */
function socketFindings({ socket }: DaemonStatus): Finding[] {
  if (!socket) return [];
  const found = lstatSync(socket, { throwIfNoEntry: false });
  const isThere = found?.isSocket() === true;
  return [
    {
      check: 'socket',
      state: isThere ? 'ok' : 'warning',
      message: isThere ? `${socket}, ${accessOf(found)}` : `${socket} no longer exists`,
      remedy: isThere ? null : 'Restart the daemon: gateway stop, then gateway serve',
    },
  ];
}

function accessOf({ mode }: Stats): string {
  if ((mode & 0o002) !== 0) return 'open to every user';
  return (mode & 0o020) === 0 ? 'owner only' : 'owner and group';
}

function vaultFinding({ vault: { state, store, reason } }: DaemonStatus): Finding {
  if (state === 'unlocked')
    return { check: 'vault', state: 'ok', message: `unlocked (${store})`, remedy: null };
  if (state === 'no_vault') {
    // The reason why creating it failed.
    if (reason !== null)
      return { check: 'vault', state: 'warning', message: 'could not be created', remedy: reason };
    return {
      check: 'vault',
      state: 'ok',
      message: 'none yet: created with the first provider key',
      remedy: null,
    };
  }
  return { check: 'vault', state: 'warning', message: vaultText(state), remedy: reason };
}

/** Nothing about play money, which cannot fail. */
function backendFindings({ wallet: { backend, state, problems } }: DaemonStatus): Finding[] {
  if (backend === 'embedded') return [];
  if (state === 'ready' || problems.length === 0) {
    const message = `${backend}: ${state === 'ready' ? 'ready' : 'not checked yet'}`;
    return [{ check: 'wallet', state: 'ok', message, remedy: null }];
  }
  return problems.map((problem) => ({
    check: 'wallet',
    state: state === 'unavailable' ? 'broken' : 'warning',
    message: `${backend}: ${problem}`,
    remedy: 'Check it again: gateway wallet backend',
  }));
}

function providerFindings({ providers }: DaemonStatus): Finding[] {
  const named = providers.filter((provider) => provider.state !== 'unavailable');
  const real = named.filter((provider) => provider.name !== 'simulator');
  const findings = named.map((provider): Finding => {
    const isBenched = provider.state === 'benched';
    return {
      check: 'provider',
      state: isBenched ? 'warning' : 'ok',
      message: `${provider.name}: ${isBenched ? (provider.reason ?? 'benched') : `${provider.models} models`}`,
      remedy: isBenched ? 'It is retried automatically; see: gateway tail' : null,
    };
  });
  if (real.length > 0) return findings;
  const remedy = 'Start the daemon with a provider key. Providers: gateway status';
  return [
    ...findings,
    { check: 'provider', state: 'warning', message: 'only the simulator is available', remedy },
  ];
}

/** Whether the port that the daemon would listen on is free. */
async function checkPort(context: Context): Promise<Finding> {
  const { host, port } = await placeToListen(context);
  const code = await codeOfListening(host, port);
  if (code === undefined) {
    const message = port === 0 ? 'any free port' : `${port} is free`;
    return { check: 'port', state: 'ok', message, remedy: null };
  }
  if (code !== 'EADDRINUSE') {
    const message = `cannot listen on ${host} port ${port} (${code})`;
    return { check: 'port', state: 'broken', message, remedy: 'gateway serve --host ADDRESS --port PORT' };
  }
  const holder = (await isOurs(port)) ? 'another Gateway daemon with other data' : code;
  return {
    check: 'port',
    state: 'broken',
    message: `${port} is in use (${holder})`,
    remedy: 'gateway serve --port ANOTHER',
  };
}

/** The address a daemon started without flags would listen on. */
async function placeToListen(context: Context): Promise<{ host: string; port: number }> {
  const setting = await readSettings(context);
  return {
    host: String(setting?.('listen.host') ?? listenDefaults.host),
    port: Number(setting?.('listen.port') ?? listenDefaults.port),
  };
}

/** The error code of listening there; undefined if it works. */
function codeOfListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

const answerMs = 1_000;

/** Whether a Gateway daemon is listening on the port. */
async function isOurs(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await send({
      method: 'GET',
      url: `http://127.0.0.1:${port}/healthz`,
      headers: {},
      signal,
    });
    for await (const _bytes of answer.body) break;
    return answer.headers[versionHeader] !== undefined;
  } catch {
    return false;
  }
}

/** Has the daemon ask every provider that it can call. Benches of those that answer end, so it comes before the status. */
export async function checkOnline(context: Context, { offline }: DoctorOptions): Promise<Finding[]> {
  if (offline || isLocalDown(context)) return [];
  try {
    const { data } = await context.client().call(checkProviders, {});
    return data.map(({ provider, key, problem, message, remedy, ended }) => ({
      check: 'online',
      state: problem === null ? 'ok' : problem === 'failing' ? 'warning' : 'broken',
      message: `${provider}${key ? ` (${key})` : ''}: ${message}${ended.length > 0 ? ', and is not benched any more' : ''}`,
      remedy,
    }));
  } catch (error) {
    // Callers who may not, and daemons of an older version.
    if (error instanceof ReceivedError && /^(signed_out|permission|not_found)$/.test(error.code)) return [];
    const { sentence } = explain(error, { isLocal: isLocalHost(context) });
    const message = `the providers could not be asked: ${sentence}`;
    return [{ check: 'online', state: 'warning', message, remedy: null }];
  }
}

/** Has the daemon send an export without spans to its collector, if it has one. */
export async function checkSpans(context: Context, { offline }: DoctorOptions): Promise<Finding[]> {
  if (offline || isLocalDown(context)) return [];
  try {
    const { collector, problem, message, remedy } = await context.client().call(checkCollector, {});
    if (collector === null) return [];
    const state =
      problem === null ? 'ok' : problem === 'failing' || problem === 'partial' ? 'warning' : 'broken';
    return [{ check: 'spans', state, message: `${collector}: ${message}`, remedy }];
  } catch {
    // Callers who may not, daemons of an earlier version, and those that do not answer, of which another check tells.
    return [];
  }
}
