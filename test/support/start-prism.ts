import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

export interface Prism {
  /** `http://127.0.0.1:PORT` */
  url: string;
  stop(): Promise<void>;
}

/** Ends the process with the one that started it, however that ends: its input is then closed. */
const endWithParent = 'data:text/javascript,process.stdin.on("close",()=>process.exit()).resume()';

/**
 * Prism as a proxy before `upstream`, comparing what passes with an OpenAPI document. It forwards everything and reports
 * what it found in the header `sl-violations`: its option `--errors` would answer some requests in place of the
 * upstream, and says nothing of a status that is not described.
 */
export async function startPrism(documentFile: string, upstream: string): Promise<Prism> {
  const { resolve } = createRequire(import.meta.url);
  const port = await freePort();
  const flags = [
    '--port',
    `${port}`,
    '--host',
    '127.0.0.1',
    '--cors',
    'false',
    '--validate-request',
    'false',
  ];
  // Every call takes Prism longer to log than to check; it then does not say either that it is listening.
  flags.push('--verboseLevel', 'silent');
  const child = spawn(
    process.execPath,
    ['--import', endWithParent, resolve('@stoplight/prism-cli'), 'proxy', documentFile, upstream, ...flags],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env.PATH, NO_COLOR: '1' } },
  );
  const exited = once(child, 'exit');
  let printed = '';
  const read = (chunk: Buffer) => {
    printed += chunk.toString();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  await Promise.race([
    eventually('Prism listens', () => isListening(port)),
    exited.then(() => Promise.reject(new Error(`prism ended: ${printed}`))),
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

export interface Violation {
  location: string[];
  severity: string;
  message: string;
}

/** What Prism found wrong with an answer; what it found wrong with the request is left out. */
export function violationsOf(answer: Response): Violation[] {
  const found = answer.headers.get('sl-violations');
  if (found === null) return [];
  if (!found.startsWith('[')) return [{ location: ['response'], severity: 'Error', message: found }];
  return (JSON.parse(found) as Violation[]).filter(({ location }) => location[0] === 'response');
}
