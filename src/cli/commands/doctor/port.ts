import { createServer } from 'node:net';
import { listenDefaults } from '../../../shared/listen-defaults.ts';
import { versionHeader } from '../../../shared/version.ts';
import type { Context } from '../../context.ts';
import { send } from '../../hosts/send.ts';
import type { Finding } from './finding.ts';
import { readSettings } from './settings.ts';

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
