import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

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
  const flags = ['--port', '0', '--host', '127.0.0.1', '--cors', 'false', '--validate-request', 'false'];
  const child = spawn(
    process.execPath,
    ['--import', endWithParent, resolve('@stoplight/prism-cli'), 'proxy', documentFile, upstream, ...flags],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env.PATH, NO_COLOR: '1' } },
  );
  const exited = once(child, 'exit');
  let printed = '';
  const { promise, resolve: listening, reject } = Promise.withResolvers<string>();
  const read = (chunk: Buffer) => {
    printed += chunk.toString();
    const url = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1];
    if (url !== undefined) listening(url);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  exited.then(() => reject(new Error(`prism ended: ${printed}`)));
  return {
    url: await promise,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
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
