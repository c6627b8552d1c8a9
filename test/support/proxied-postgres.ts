import { onTestFinished } from 'vitest';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

/** A server of the test's own, and a proxy to it. Both are stopped when the test has finished. */
export async function startProxiedPostgres(): Promise<{ server: PostgresServer; proxy: FaultProxy }> {
  const server = await startPostgres({ hasTcp: true });
  const proxy = await startFaultProxy(server.url());
  onTestFinished(async () => {
    await proxy.close();
    await server.stop();
  });
  return { server, proxy };
}
