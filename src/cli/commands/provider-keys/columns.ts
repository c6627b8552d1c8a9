import type { ProviderKey } from '../../../shared/contract/provider-keys.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

export const columns = (now: number): Column<ProviderKey>[] => [
  { title: 'provider', value: (key) => key.provider },
  { title: 'fingerprint', value: (key) => key.fingerprint },
  { title: 'added', value: (key) => key.added_at, show: (key) => ago(key.added_at, now), isSpare: true },
  { title: 'updated', value: (key) => key.updated_at, show: (key) => ago(key.updated_at, now) },
];
