import type { VaultStatus } from '../../shared/contract/vault.ts';

/** The state of the vault on a terminal. */
export function vaultText(state: VaultStatus['state']): string {
  return state === 'no_vault' ? 'none yet' : state.replaceAll('_', ' ');
}
