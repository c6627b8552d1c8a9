import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildDaemon, type ChildOptions, startChildDaemon } from './child-daemon.ts';

const dataKey = Buffer.alloc(32, 'k').toString('base64url');

/** Starts one of several daemons that share a PostgreSQL database, with a data folder of its own and the data key of all. */
export async function startMemberDaemon(
  url: string,
  { env, ...options }: Pick<ChildOptions, 'config' | 'env'> = {},
): Promise<ChildDaemon> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-member-'));
  await writeFile(join(home, 'data-key'), dataKey, { mode: 0o600 });
  return startChildDaemon({ ...options, home, env: { ...env, GATEWAY_STORAGE_URL: url } });
}
