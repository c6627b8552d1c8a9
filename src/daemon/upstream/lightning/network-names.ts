import type { LightningNetwork } from '../../../shared/payments/wallet-backends.ts';

const names: Readonly<Record<string, LightningNetwork>> = {
  mainnet: 'bitcoin',
  bitcoin: 'bitcoin',
  testnet: 'testnet',
  testnet3: 'testnet',
  testnet4: 'testnet',
  signet: 'signet',
  regtest: 'regtest',
};

/** A network by the name that nodes give it; null for others. */
export function networkNamed(name: string | undefined): LightningNetwork | null {
  const known = name?.toLowerCase() ?? '';
  return Object.hasOwn(names, known) ? (names[known] ?? null) : null;
}
