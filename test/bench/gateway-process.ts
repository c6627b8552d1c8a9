import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonFile, dataFiles } from '../../src/shared/folders.ts';
import { isGone, startNode, stopProcess } from './processes.ts';
import type { Running } from './systems.ts';
import { modelName, paths, requestBody } from './wires.ts';

const giveUpAfterMs = 60_000;

/** Writes the configuration of a gateway whose providers are the mock, once for each wire format; `more` is YAML. */
export function prepareHome(folder: string, providerPort: number, more = ''): void {
  const upstream = (name: string, wire: string) =>
    `  - {name: ${name}, base_url: "http://127.0.0.1:${providerPort}/v1", models: ["*"], wire: ${wire}, ` +
    'prices: {input: "1", output: "2"}}\n';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const upstreams = ['chat', 'responses', 'messages'].map((wire) => upstream(`mock-${wire}`, wire)).join('');
  writeFileSync(join(folder, 'config.yaml'), `local_servers: false\n${more}upstreams:\n${upstreams}`);
}

/** Starts a built program on that folder and waits until it has answered a model call. `more` is added to its environment. */
export async function startGateway(
  program: string,
  folder: string,
  core: string | undefined,
  more: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const log = openSync(join(folder, 'output.log'), 'a');
  const startedAt = performance.now();
  const args = ['serve', '--port', '0', '--config', join(folder, 'config.yaml')];
  const child = startNode(program, core, args, {
    env: { ...environment(folder), ...more },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  try {
    const { url } = await written(folder, child);
    const listeningAfterMs = performance.now() - startedAt;
    const key = readFileSync(join(folder, dataFiles.defaultKey), 'utf8').trim();
    const headers = { authorization: `Bearer ${key}` };
    const port = Number(new URL(url).port);
    const model = `mock-chat/${modelName({ tokens: 50, delayMs: 0 })}`;
    await firstAnswer({ port, headers, model });
    const answeredAfterMs = performance.now() - startedAt;
    const stop = () => stopProcess(child);
    return { process: child, port, headers, listeningAfterMs, answeredAfterMs, stop };
  } catch (error) {
    await stopProcess(child);
    throw error;
  }
}

/**
 * Nothing of the user's own set-up is used: no folders, no providers' keys. Compiled code is kept from run to run, as it is by
 * a user's daemons.
 */
function environment(folder: string): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, SystemRoot, TEMP } = process.env;
  const cache = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') };
  return { PATH, TMPDIR, SystemRoot, TEMP, HOME: folder, GATEWAY_HOME: folder, ...cache };
}

/** The daemon writes its address once it listens. */
async function written(folder: string, child: ChildProcess): Promise<DaemonFile> {
  const file = join(folder, dataFiles.daemon);
  const giveUpAt = performance.now() + giveUpAfterMs;
  while (performance.now() < giveUpAt && !isGone(child)) {
    try {
      const found: DaemonFile | undefined = existsSync(file)
        ? JSON.parse(readFileSync(file, 'utf8'))
        : undefined;
      // The file of one that was killed is still there.
      if (found !== undefined && found.pid === child.pid) return found;
    } catch {
      // Half written: read it again.
    }
    await sleep(1);
  }
  throw new Error(`the gateway did not start:\n${readFileSync(join(folder, 'output.log'), 'utf8')}`);
}

/** Asks for a chat completion; fails unless it is answered with 200. */
export async function firstAnswer({
  port,
  headers,
  model,
}: Pick<Running, 'port' | 'headers'> & { model: string }): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${paths.chat}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: requestBody('chat', model, { isStream: false }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the answer was ${answer.status}: ${text}`);
}
