import type { VaultStatus } from '../../../shared/contract/vault.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

/** Shows the vault; the exit code tells scripts whether it is open, where that was asked for. */
export async function showVault(
  context: Context,
  status: VaultStatus,
  { mustBeOpen }: { mustBeOpen: boolean },
): Promise<void> {
  await context.out.record(status, columns(context.now()));
  if (mustBeOpen && status.state !== 'unlocked') context.exit = exitCodes.tryLater;
}

const columns = (now: number): Column<VaultStatus>[] => [
  {
    title: 'state',
    value: (vault) => vault.state,
    style: (vault) => (vault.state === 'unlocked' ? 'green' : 'yellow'),
  },
  { title: 'store', value: (vault) => vault.store, show: (vault) => vault.store ?? 'none yet' },
  { title: 'key_id', value: (vault) => vault.key_id, show: (vault) => vault.key_id ?? '–' },
  {
    title: 'made_at',
    value: (vault) => vault.made_at,
    show: (vault) => (vault.made_at === null ? '–' : ago(vault.made_at, now)),
  },
  { title: 'secrets', value: (vault) => vault.secrets },
  { title: 'reason', value: (vault) => vault.reason, show: (vault) => vault.reason ?? untouched(vault) },
];

function untouched({ state }: VaultStatus): string {
  return state === 'no_vault' ? 'It is made with the first provider key.' : '–';
}
