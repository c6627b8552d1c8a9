import { Command, Option } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { exportVault as exportVaultContract, VaultStatus } from '../../shared/contract/vault.ts';
import { exitCodes } from '../../shared/errors.ts';
import { exportVault, getVault, rotateVault, unlockVault } from '../addresses.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example } from '../manifest/options.ts';
import type { Column } from '../output/table.ts';
import { ago } from '../output/time.ts';
import { askSecret, confirm } from '../terminal/prompts.ts';

export const vaultStatusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway vault status --json=state,store'))
    .action(async () => {
      await showVault(context, await context.client().call(getVault, {}), { mustBeOpen: false });
    });

interface UnlockOptions {
  passphrase?: true | undefined;
  masterKey?: true | undefined;
  fromEnv?: string | undefined;
}

export const unlockVaultCommand = (context: Context) =>
  new Command('unlock')
    .addOption(new Option('--passphrase', 'make a vault that a passphrase opens, where there is none yet'))
    .addOption(new Option('--master-key', 'take what an export printed').conflicts('passphrase'))
    .option('--from-env <name>', 'the environment variable that holds the passphrase or key')
    .addHelpText('after', example('gateway vault unlock --from-env VAULT_PASSPHRASE'))
    .action(async (options) => {
      const body = await unlockBody(context, options);
      const status = await context.client().call(unlockVault, { body });
      await showVault(context, status, { mustBeOpen: true });
      if (status.state === 'no_vault') {
        context.out.note('To make one that a passphrase opens: gateway vault unlock --passphrase');
      }
    });

async function unlockBody(context: Context, { passphrase, masterKey, fromEnv }: UnlockOptions) {
  if (masterKey) return { master_key: await askSecret(context, { prompt: 'Master key', fromEnv }) };
  const { store } = await context.client().call(getVault, {});
  if (store === 'passphrase') {
    return { passphrase: await askSecret(context, { prompt: 'Passphrase', fromEnv }) };
  }
  // Without being asked for, a passphrase would be one more thing to lose.
  if (store !== null || !passphrase) return {};
  return { passphrase: await newPassphrase(context, fromEnv) };
}

/** Typed twice: one that was mistyped would lock its owner out. */
export async function newPassphrase(context: Context, fromEnv: string | undefined): Promise<string> {
  const chosen = await askSecret(context, { prompt: 'New passphrase (8 characters or more)', fromEnv });
  if (fromEnv !== undefined || !context.io.stdin.isTty) return chosen;
  const again = await askSecret(context, { prompt: 'The same again' });
  if (again === chosen) return chosen;
  throw new CliError('The two are not the same; nothing was done.', { exit: exitCodes.usage });
}

const stores = ['file', 'keychain', 'passphrase', 'plain'] as const;

export const rotateVaultCommand = (context: Context) =>
  new Command('rotate')
    .addOption(
      new Option('--to <store>', 'where the new master key is kept; as before unless told').choices(stores),
    )
    .option('--from-env <name>', 'the environment variable that holds the new passphrase')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway vault rotate --to keychain --yes'))
    .action(async ({ to: wanted, fromEnv, yes }) => {
      const question = 'Make a new master key? Backups from before open only with an export of the old one.';
      await confirm(context, question, { yes });
      const to = wanted ?? (await context.client().call(getVault, {})).store ?? undefined;
      const passphrase = to === 'passphrase' ? await newPassphrase(context, fromEnv) : undefined;
      const body = { ...(to && { to }), ...(passphrase !== undefined && { passphrase }) };
      await showVault(context, await context.client().call(rotateVault, { body }), { mustBeOpen: true });
    });

export const exportVaultCommand = (context: Context) =>
  new Command('export')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway vault export --yes --quiet | lpr'))
    .action(async ({ yes }) => {
      const question =
        'Print the master key? Whoever reads it and the database can read every sealed secret.';
      await confirm(context, question, { yes });
      const exported = await context.client().call(exportVault, {});
      await context.out.record(exported, [id, secret], { pipedRow: [id, secret] });
      context.out.note('Keep it on paper. It goes back in with: gateway vault unlock --master-key');
    });

type Exported = Column<Result<typeof exportVaultContract>>;

const id: Exported = { title: 'key_id', value: (exported) => exported.key_id };
const secret: Exported = {
  title: 'master_key',
  value: (exported) => exported.master_key,
  style: () => 'bold',
  essential: true,
};

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
