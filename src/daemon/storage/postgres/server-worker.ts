import { parentPort, workerData } from 'node:worker_threads';
import { databaseUrlProblem } from '../../../shared/storage/database-url.ts';
import { readNamedFile } from '../../runtime/read-named-file.ts';
import { serveConnection } from './engine/server-connection.ts';
import { DatabaseServers } from './engine/servers.ts';
import type { ServeChannel, ServerAddress } from './server.ts';

const addressBytesMax = 1024 ** 2;

/** What the file with the address contains now. */
async function addressIn(file: string): Promise<string> {
  const url = (await readNamedFile(file, { bytesMax: addressBytesMax })).toString().trim();
  const problem = databaseUrlProblem(url);
  if (problem === undefined) return url;
  throw new Error(`The content of ${file} ${problem}.`);
}

if (parentPort) {
  const port = parentPort;
  const { url, urlFile } = workerData as ServerAddress;
  const onUse = (host: string) => port.postMessage(host);
  const servers = new DatabaseServers(
    url,
    onUse,
    urlFile === undefined ? undefined : () => addressIn(urlFile),
  );
  port.on('message', ({ channel, options }: ServeChannel) =>
    serveConnection(channel, { servers, ...options }),
  );
}
