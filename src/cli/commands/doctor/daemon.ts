import { lstatSync, type Stats } from 'node:fs';
import { createServer } from 'node:net';
import type { DaemonStatus } from '../../../shared/contract/daemon.ts';
import type { ErrorCode } from '../../../shared/errors.ts';
import { listenDefaults } from '../../../shared/listen-defaults.ts';
import { ReceivedError } from '../../../shared/received-error.ts';
import { version, versionHeader } from '../../../shared/version.ts';
import { getStatus, refreshModels } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { explain } from '../../failures/explain.ts';
import { isLocalDown } from '../../hosts/hosts.ts';
import { send } from '../../hosts/send.ts';
import { type Finding, readSettings } from './finding.ts';

/** Whether the daemon answers; if so, what it says of itself, and if not, whether it could start. */
export async function checkDaemon(context: Context): Promise<Finding[]> {
  if (isLocalDown(context)) {
    return [
      { check: 'daemon', state: 'warning', message: 'not running', remedy: 'gateway serve' },
      await checkPort(context),
    ];
  }
  try {
    const status = await context.client().call(getStatus, {});
    return [...findingsOf(status), ...(context.host().isLocal ? socketFindings(status) : [])];
  } catch (error) {
    if (error instanceof ReceivedError && /^(signed_out|permission)$/.test(error.code))
      return [tellsOthers(context, error.code)];
    const { sentence, details } = explain(error, { isLocal: context.host().isLocal });
    const next = details.find(([name]) => name === 'next')?.[1];
    return [{ check: 'daemon', state: 'broken', message: sentence, remedy: next ?? 'gateway serve' }];
  }
}

/** Only whoever runs a host may ask how it is; that others are told so says that it runs. */
function tellsOthers(context: Context, code: ErrorCode): Finding {
  return {
    check: 'daemon',
    state: 'ok',
    message: `${context.host().url} answers; how it is, it tells ${code === 'signed_out' ? 'a login' : 'whoever runs it'} only`,
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
    {
      check: 'storage',
      state: storage.writable ? 'ok' : 'broken',
      message: storage.writable ? 'writable' : (storage.reason ?? 'not writable'),
      remedy: storage.writable ? null : 'Make room, which is enough, or repair the data and restart.',
    },
    vaultFinding(status),
    ...providerFindings(status),
  ];
}

/** Whether the daemon's Unix socket can be reached still: whoever tidies up folders may have removed its file. */
function socketFindings({ socket }: DaemonStatus): Finding[] {
  if (!socket) return [];
  const found = lstatSync(socket, { throwIfNoEntry: false });
  const isThere = found?.isSocket() === true;
  return [
    {
      check: 'socket',
      state: isThere ? 'ok' : 'warning',
      message: isThere ? `${socket}, ${accessOf(found)}` : `${socket} is gone: nobody can connect there`,
      remedy: isThere ? null : 'Restart the daemon: gateway stop, then gateway serve',
    },
  ];
}

function accessOf({ mode }: Stats): string {
  if ((mode & 0o002) !== 0) return 'for every user';
  return (mode & 0o020) === 0 ? 'for its owner alone' : 'for its owner and group';
}

function vaultFinding({ vault: { state, store, reason } }: DaemonStatus): Finding {
  if (state === 'unlocked')
    return { check: 'vault', state: 'ok', message: `unlocked (${store})`, remedy: null };
  if (state === 'no_vault') {
    // A reason is one why it could not be made when it was needed.
    if (reason !== null)
      return { check: 'vault', state: 'warning', message: 'it could not be made', remedy: reason };
    return {
      check: 'vault',
      state: 'ok',
      message: 'none yet: it is made with the first provider key',
      remedy: null,
    };
  }
  return { check: 'vault', state: 'warning', message: state, remedy: reason };
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
      remedy: isBenched ? 'It is tried again by itself; see: gateway tail' : null,
    };
  });
  if (real.length > 0) return findings;
  const remedy = 'Start the daemon with a provider’s key; which: gateway status';
  return [
    ...findings,
    { check: 'provider', state: 'warning', message: 'only the simulator answers', remedy },
  ];
}

/** Whether the port that the daemon would take is free. */
export async function checkPort(context: Context): Promise<Finding> {
  const { host, port } = await placeToListen(context);
  const code = await codeOfListening(host, port);
  if (code === undefined) {
    const message = port === 0 ? 'any that is free' : `${port} is free`;
    return { check: 'port', state: 'ok', message, remedy: null };
  }
  if (code !== 'EADDRINUSE') {
    const message = `${host} port ${port} cannot be listened on (${code})`;
    return { check: 'port', state: 'broken', message, remedy: 'gateway serve --host ADDRESS --port PORT' };
  }
  const holder = (await isOurs(port)) ? 'another daemon of Gateway, with other data' : code;
  return {
    check: 'port',
    state: 'broken',
    message: `${port} is taken (${holder})`,
    remedy: 'gateway serve --port ANOTHER',
  };
}

/** As a daemon that is started without flags would read it; with faults in the settings it would not start at all. */
async function placeToListen(context: Context): Promise<{ host: string; port: number }> {
  const setting = await readSettings(context);
  return {
    host: String(setting?.('listen.host') ?? listenDefaults.host),
    port: Number(setting?.('listen.port') ?? listenDefaults.port),
  };
}

/** The system's word on why nobody can listen there; undefined where one can. */
function codeOfListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

const answerMs = 1_000;

/** Whether a daemon of this program answers at the port. */
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

/** Has the daemon ask every provider that it has a key for; only where somebody wants it, as others hear of it. */
export async function checkOnline(context: Context, { online }: { online?: true }): Promise<Finding[]> {
  if (!online || isLocalDown(context)) return [];
  const { data } = await context.client().call(refreshModels, {});
  return data.map(({ provider, models, error }) => ({
    check: 'online',
    state: error === null ? 'ok' : 'broken',
    message: `${provider}: ${error ?? `it takes the key and has ${models} models`}`,
    remedy: error === null ? null : 'Check the key and the way to the provider, then run this again.',
  }));
}
