import { exportVault, getVault, rotateVault, unlockVault } from '../../../shared/contract/vault.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Caller, implement } from '../../handler.ts';
import { withSecret } from '../../replies.ts';
import { parseMasterKey } from './master-text.ts';
import type { Vault } from './vault.ts';

export interface VaultHandlerNeeds {
  vault: Pick<Vault, 'status' | 'unlock' | 'rotate' | 'export'>;
  /** Fails for everybody but the login of the user who runs the daemon. */
  requireDaemonOwner(caller: Caller): Promise<void>;
}

export const vaultHandlers = ({ vault, requireDaemonOwner }: VaultHandlerNeeds) => [
  implement(getVault, async ({ caller }) => {
    await requireDaemonOwner(caller);
    return await vault.status();
  }),

  implement(unlockVault, async ({ caller, body }) => {
    await requireDaemonOwner(caller);
    const { passphrase, master_key: text } = body ?? {};
    if (passphrase !== undefined && text !== undefined) {
      throw new ApiError('invalid_request', { param: 'master_key', message: 'Give one of the two.' });
    }
    if (text === undefined) return await vault.unlock(passphrase === undefined ? {} : { passphrase });
    const masterKey = parseMasterKey(text);
    if (masterKey === undefined) {
      throw new ApiError('invalid_request', { param: 'master_key', message: 'That is no master key.' });
    }
    return await vault.unlock({ masterKey });
  }),

  implement(rotateVault, async ({ caller, body }) => {
    await requireDaemonOwner(caller);
    const { to, passphrase } = body ?? {};
    return await vault.rotate({ ...(to && { to }), ...(passphrase !== undefined && { passphrase }) });
  }),

  implement(exportVault, async ({ caller }) => {
    await requireDaemonOwner(caller);
    return withSecret<typeof exportVault>(await vault.export());
  }),
];
