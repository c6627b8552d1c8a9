import { expect, test } from 'vitest';
import { vaultText } from '../../../src/cli/output/vault-text.ts';
import { VaultState } from '../../../src/shared/contract/vault.ts';

test('states of the vault are shown as words', () => {
  expect(VaultState.enum.map(vaultText)).toEqual(['unlocked', 'sealed', 'wrong key', 'none yet']);
});
