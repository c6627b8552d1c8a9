/** What the bench measures: the provider alone, the floors, this build of the gateway, also on PostgreSQL, and one to compare it with. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstAnswer, prepareHome, startGateway } from './gateway-process.ts';
import { startNode, stopProcess } from './processes.ts';
import { modelName } from './wires.ts';

export type SystemName = 'direct' | 'floor' | 'floor-waits' | 'gateway' | 'postgres' | 'against';

export interface Running {
  process: ChildProcess;
  port: number;
  headers: Record<string, string>;
  /** From the start of the process, milliseconds. */
  listeningAfterMs: number;
  answeredAfterMs: number;
  stop(): Promise<void>;
}

/** A program that can be started on a folder of its own. */
export interface Program {
  name: SystemName;
  /** The gateway finds a provider by the first part of a model's name; the floors and the provider have no such part. */
  isGateway: boolean;
  start(): Promise<Running>;
}

interface Place {
  /** Holds the data of all programs. */
  folder: string;
  providerPort: number;
  core: string | undefined;
}

interface Others {
  /** The address of a PostgreSQL database, on which this build is measured as well. */
  postgres: string | undefined;
  /** The folder of another build. */
  against: string | undefined;
}

/** The floors and the gateways, in the order of the report. */
export function programsIn(place: Place, { postgres, against }: Others): Program[] {
  const here = fileURLToPath(new URL('../..', import.meta.url));
  return [
    floor(place, 'floor'),
    floor(place, 'floor-waits'),
    gateway(place, 'gateway', here),
    ...(postgres === undefined ? [] : [gateway(place, 'postgres', here, { GATEWAY_STORAGE_URL: postgres })]),
    ...(against === undefined ? [] : [gateway(place, 'against', against)]),
  ];
}

function gateway(
  { folder, providerPort, core }: Place,
  name: SystemName,
  checkout: string,
  more: NodeJS.ProcessEnv = {},
): Program {
  const home = join(folder, name);
  prepareHome(home, providerPort);
  const program = join(checkout, 'bin/gateway.js');
  return { name, isGateway: true, start: () => startGateway(program, home, core, more) };
}

function floor({ folder, providerPort, core }: Place, name: 'floor' | 'floor-waits'): Program {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  const database = join(home, 'floor.db');
  const upstream = `http://127.0.0.1:${providerPort}`;
  const waits = name === 'floor-waits' ? ['--waits'] : [];
  return {
    name,
    isGateway: false,
    async start() {
      const startedAt = performance.now();
      const script = fileURLToPath(new URL('./floor.js', import.meta.url));
      const child = startNode(script, core, ['--upstream', upstream, '--database', database, ...waits], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
      });
      const [{ port, headers }] = await once(child, 'message');
      const listeningAfterMs = performance.now() - startedAt;
      await firstAnswer({ port, headers, model: modelName({ tokens: 50, delayMs: 0 }) });
      const answeredAfterMs = performance.now() - startedAt;
      return {
        process: child,
        port,
        headers,
        listeningAfterMs,
        answeredAfterMs,
        stop: () => stopProcess(child),
      };
    },
  };
}
