import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/daemon/base/world.ts';
import { serve } from '../../src/daemon/main.ts';
import type { DrainTimes } from '../../src/daemon/process/drain.ts';
import { checkStreams } from './check-streams.ts';
import { MovingClock } from './moving-clock.ts';
import { addEmptyDatabase } from './new-database.ts';

export interface RunningDaemon {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** The `default` API key. */
  key: string;
  /** The owner's login key. */
  login: string;
  /** The folder of all its files, also `GATEWAY_HOME` for commands. */
  home: string;
  /** What it has printed so far. */
  printed: () => { stdout: string; stderr: string };
  /** Puts its clock forward: what it waits for is then due. */
  advance(ms: number): void;
  /** Sets its wall clock forward or back; no time passes. */
  setWallClock(ms: number): void;
  /** One call with the default key, unless headers say otherwise. */
  fetch(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  /**
   * Stops it gracefully and resolves to its exit code; `keep` leaves the folder. Rejects if it streamed an event that breaks
   * its schema. `isAsked`: it was asked to stop already.
   */
  stop(options?: { keep?: boolean; isAsked?: boolean }): Promise<number>;
}

export interface DaemonOptions {
  /** Text of config.yaml; without `local_servers`, local servers are not searched. */
  config?: string;
  /** A file to read in place of that text. */
  configFile?: string;
  env?: Record<string, string>;
  /** A folder from an earlier run. */
  home?: string;
  /** The port of an earlier run; a free one by default. */
  port?: number;
  /** A script for the simulator: its text. */
  simulate?: string;
  /** Folders of recorded calls to providers. */
  record?: string;
  replay?: string;
  replaySpeed?: 'real' | 'instant';
  /** How often open payments and invoices are followed at the Lightning back end. */
  followUpMs?: number;
  /** How long running calls may continue when it stops. */
  drain?: DrainTimes;
  /** Its clock; by default one that moves by itself. */
  clock?: Clock & { advance(ms: number): unknown };
  /** Answers the daemon's questions at the start. */
  askSecret?: (question: string, signal: AbortSignal) => Promise<string | undefined>;
}

/**
 * To be called after this process was blocked for seconds: its idle connections may be closed by then, which only a
 * call that fails shows.
 */
export async function dropIdleConnections({ url }: Pick<RunningDaemon, 'url'>): Promise<void> {
  await fetch(`${url}/healthz`)
    .then((answer) => answer.text())
    .catch(() => {});
}

/** Starts the whole daemon in this process, on a free port and with a new data folder. */
export async function startDaemon(options: DaemonOptions = {}): Promise<RunningDaemon> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'gateway-test-')));
  if (options.home === undefined) addEmptyDatabase(home);
  const config = options.config ?? '';
  const local = /^local_servers:/m.test(config) ? config : `local_servers: false\n${config}`;
  // Rejected calls, of which tests make many, would fill the output.
  const quiet = /^log:/m.test(local) ? local : `log: {level: error}\n${local}`;
  // Tests in the same process delay the daemon's event loop.
  const calm = `shed_load: false\n${quiet}`;
  await writeFile(join(home, 'config.yaml'), calm);
  const simulate = options.simulate === undefined ? undefined : join(home, 'script.yaml');
  if (simulate) await writeFile(simulate, options.simulate ?? '');
  const out = { stdout: '', stderr: '' };
  let exited: number | undefined;
  const ready = Promise.withResolvers<void>();
  const moving = new MovingClock();
  const clock = options.clock ?? moving;
  const ended = serve({
    clock,
    port: options.port ?? 0,
    ...(options.configFile && { configFile: options.configFile }),
    ...(simulate && { simulate }),
    record: options.record,
    replay: options.replay,
    replaySpeed: options.replaySpeed,
    askSecret: options.askSecret,
    ...(options.followUpMs !== undefined && { followUpMs: options.followUpMs }),
    ...(options.drain && { drain: options.drain }),
    env: { GATEWAY_HOME: home, GATEWAY_PAYWALLS_PORT: '0', ...options.env },
    stdout: {
      write: (text: string) => {
        out.stdout += text;
        ready.resolve();
      },
    },
    stderr: { write: (text: string) => (out.stderr += text) },
  }).then((code) => {
    exited = code;
    ready.reject(new Error(`the daemon ended with ${code}: ${out.stderr}`));
    return code;
  });
  ready.promise.catch(() => {});
  await ready.promise;
  const read = async (name: string) => (await readFile(join(home, name), 'utf8')).trim();
  const { url } = JSON.parse(await read('daemon.json')) as { url: string };
  const endCheck = checkStreams(url);
  const login = await read('login-key');
  const key = await read('default-key');
  return {
    url,
    key,
    login,
    home,
    printed: () => out,
    advance: (ms) => void clock.advance(ms),
    setWallClock: (ms) => moving.setWallClock(ms),
    fetch: (path, { json, ...init } = {}) =>
      fetch(url + path, {
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
        ...init,
        headers: {
          authorization: `Bearer ${key}`,
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...init.headers,
        },
      }),
    async stop({ keep = false, isAsked = false } = {}) {
      if (exited === undefined && !isAsked) {
        const headers = { authorization: `Bearer ${login}` };
        const ask = () => fetch(`${url}/v1/admin/stop`, { method: 'POST', headers });
        // The first connection may be an idle one that the daemon just closed; one that is stopping no longer listens.
        await ask()
          .catch(ask)
          .catch(() => {});
      }
      const code = await ended;
      if (!keep) await rm(home, { recursive: true, force: true });
      endCheck();
      return code;
    },
  };
}
