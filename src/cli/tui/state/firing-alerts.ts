import type { Client } from '../../../shared/client.ts';
import type { AlertFiring } from '../../../shared/contract/alerts.ts';
import { listFirings } from '../../../shared/endpoints.ts';

/** The alerts that fire in the caller's workspace, newest first; none for a key that may not read it. */
export async function loadFiring(client: Client): Promise<AlertFiring[]> {
  const input = { params: { workspace: 'me' }, query: { open: true } };
  const firing = await client.call(listFirings, input).catch(() => undefined);
  return firing?.data ?? [];
}
