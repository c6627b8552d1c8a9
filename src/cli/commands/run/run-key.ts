import type { LimitsChange } from '../../../shared/contract/key-limits.ts';
import { issueKey, revokeKey } from '../../../shared/endpoints.ts';
import { parseSecret } from '../../../shared/secrets.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../failures/cli-error.ts';
import { resolveWorkspace } from '../../names/resolve.ts';

/** The key that a tool calls with. */
export interface RunKey {
  secret: string;
  /** Undefined for the user's own key, which is left as it is. */
  id: string | undefined;
}

export interface RunKeyOptions {
  /** The tool's name, which the key gets. */
  name: string;
  spendCap: LimitsChange['spend_cap'] | undefined;
  /** In case the program dies before it can revoke the key. */
  expiresInMs: number;
}

/** Issues a key for one tool. With an API key in GATEWAY_KEY, which cannot issue others, the tool gets that one. */
export async function issueRunKey(
  context: Context,
  { name, spendCap, expiresInMs }: RunKeyOptions,
): Promise<RunKey> {
  const { token } = context.host();
  if (typeof token === 'string' && parseSecret(token) === 'api') {
    if (spendCap === undefined) return { secret: token, id: undefined };
    throw usageError(
      '--spend-cap needs a login, and GATEWAY_KEY is an API key.',
      'Without GATEWAY_KEY, the tool gets a key of its own. To limit this one: gateway keys limits set',
    );
  }
  const limits = {
    expires_at: new Date(context.now() + expiresInMs).toISOString(),
    ...(spendCap !== undefined && { spend_cap: spendCap }),
  };
  const params = { workspace: await resolveWorkspace(context, 'me') };
  const { key, secret } = await context.client().call(issueKey, { params, body: { name, limits } });
  return { secret, id: key.id };
}

/** Revokes a key that was issued for a tool; a failure is a warning. */
export async function revokeRunKey(context: Context, { id }: RunKey): Promise<void> {
  if (id === undefined) return;
  try {
    const params = { workspace: await resolveWorkspace(context, 'me'), key: id };
    await context.client().call(revokeKey, { params });
  } catch {
    context.out.warn(`${id} could not be revoked. To do it: gateway keys revoke ${id}`);
  }
}
