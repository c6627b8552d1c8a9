import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems give ports above these to whoever leaves the choice to them, as nearly all servers and clients of tests do. */
const [first, end] = [20_000, 32_000];

/**
 * A port of loopback that nothing used a moment ago, for programs that cannot choose one themselves and for those that start
 * again. No system gives it to another one meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return false;
        throw error;
      },
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
