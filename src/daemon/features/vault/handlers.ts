import { exportVault, getVault, rotateVault, unlockVault } from '../../../shared/contract/vault.ts';
import { ApiError } from '../../../shared/errors.ts';
import { implement } from '../../base/handler.ts';
import { withSecret } from '../../base/replies.ts';
import { parseMasterKey } from './sealing-scheme.ts';
import type { Vault } from './vault.ts';

interface VaultHandlerDeps {
  vault: Pick<Vault, 'status' | 'unlock' | 'rotate' | 'export'>;
}

export const vaultHandlers = ({ vault }: VaultHandlerDeps) => [
  implement(getVault, () => vault.status()),

  implement(unlockVault, async ({ body }) => {
    const { passphrase, master_key: text } = body ?? {};
    if (passphrase !== undefined && text !== undefined) {
      throw new ApiError('invalid_request', {
        param: 'master_key',
        message: 'Give either `passphrase` or `master_key`.',
      });
    }
    if (text === undefined) return await vault.unlock(passphrase === undefined ? {} : { passphrase });
    const masterKey = parseMasterKey(text);
    if (masterKey === undefined) {
      throw new ApiError('invalid_request', { param: 'master_key', message: 'This is not a master key.' });
    }
    return await vault.unlock({ masterKey });
  }),

  implement(rotateVault, async ({ body }) => {
    const { to, passphrase } = body ?? {};
    return await vault.rotate({ ...(to && { to }), ...(passphrase !== undefined && { passphrase }) });
  }),

  implement(exportVault, async () => withSecret<typeof exportVault>(await vault.export())),
];
