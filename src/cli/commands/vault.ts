import { Command, Option } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { exportVault as exportVaultContract, VaultStatus } from '../../shared/contract/vault.ts';
import { exportVault, getVault, rotateVault, unlockVault } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { vaultText } from '../output/vault-text.ts';
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
    .addOption(new Option('--passphrase', 'create a passphrase-protected vault, if there is none yet'))
    .addOption(new Option('--master-key', 'unlock with an exported master key').conflicts('passphrase'))
    .option('--from-env <name>', 'the environment variable with the passphrase or key')
    .addHelpText('after', example('gateway vault unlock --from-env VAULT_PASSPHRASE'))
    .action(async (options) => {
      const body = await unlockBody(context, options);
      const status = await context.client().call(unlockVault, { body });
      await showVault(context, status, { mustBeOpen: true });
      if (status.state === 'no_vault') {
        context.out.note('To create one protected by a passphrase: gateway vault unlock --passphrase');
      }
    });

async function unlockBody(context: Context, { passphrase, masterKey, fromEnv }: UnlockOptions) {
  if (masterKey) return { master_key: await askSecret(context, { prompt: 'Master key', fromEnv }) };
  const { store } = await context.client().call(getVault, {});
  if (store === 'passphrase') {
    return { passphrase: await askSecret(context, { prompt: 'Passphrase', fromEnv }) };
  }
  // Only on request: a passphrase is one more thing to lose.
  if (store !== null || !passphrase) return {};
  return { passphrase: await newPassphrase(context, fromEnv) };
}

/** Asks for a passphrase twice, because a typo would lock the user out. */
async function newPassphrase(context: Context, fromEnv: string | undefined): Promise<string> {
  const chosen = await askSecret(context, { prompt: 'New passphrase (8 characters or more)', fromEnv });
  if (fromEnv !== undefined || !context.io.stdin.isTty) return chosen;
  const again = await askSecret(context, { prompt: 'Repeat the passphrase' });
  if (again === chosen) return chosen;
  throw new CliError('The passphrases differ; nothing was changed.', { exit: exitCodes.usage });
}

const stores = ['file', 'keychain', 'passphrase', 'plain'] as const;

export const rotateVaultCommand = (context: Context) =>
  new Command('rotate')
    .addOption(
      new Option('--to <store>', 'where to store the new master key (default: as before)').choices(stores),
    )
    .option('--from-env <name>', 'the environment variable with the new passphrase')
    .addOption(yesOption())
    .addHelpText('after', example('gateway vault rotate --to keychain --yes'))
    .action(async ({ to: wanted, fromEnv, yes }) => {
      const question = 'Create a new master key? Existing backups will need an export of the old one.';
      await confirm(context, question, { yes });
      const to = wanted ?? (await context.client().call(getVault, {})).store ?? undefined;
      const passphrase = to === 'passphrase' ? await newPassphrase(context, fromEnv) : undefined;
      const body = { ...(to && { to }), ...(passphrase !== undefined && { passphrase }) };
      await showVault(context, await context.client().call(rotateVault, { body }), { mustBeOpen: true });
    });

export const exportVaultCommand = (context: Context) =>
  new Command('export')
    .addOption(yesOption())
    .addHelpText('after', example('gateway vault export --yes --quiet | lpr'))
    .action(async ({ yes }) => {
      const question = 'Print the master key? Anyone with it and the database can read every secret.';
      await confirm(context, question, { yes });
      const exported = await context.client().call(exportVault, {});
      await context.out.record(exported, [id, secret], { pipedRow: [id, secret] });
      context.out.note('Keep it on paper. To restore it: gateway vault unlock --master-key');
    });

type Exported = Column<Result<typeof exportVaultContract>>;

const id: Exported = { title: 'key_id', value: (exported) => exported.key_id };
const secret: Exported = {
  title: 'master_key',
  value: (exported) => exported.master_key,
  style: () => 'bold',
  essential: true,
};

/** Prints the vault's status; with `mustBeOpen`, a locked vault sets the exit code. */
async function showVault(
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
    show: (vault) => vaultText(vault.state),
    style: (vault) => (vault.state === 'unlocked' ? 'green' : 'yellow'),
  },
  { title: 'store', value: (vault) => vault.store, show: (vault) => vault.store ?? 'none yet' },
  { title: 'key_id', value: (vault) => vault.key_id, show: (vault) => vault.key_id ?? '–' },
  {
    title: 'made_at',
    label: 'created',
    value: (vault) => vault.made_at,
    show: (vault) => (vault.made_at === null ? '–' : ago(vault.made_at, now)),
  },
  { title: 'secrets', value: (vault) => vault.secrets },
  { title: 'reason', value: (vault) => vault.reason, show: (vault) => vault.reason ?? untouched(vault) },
];

function untouched({ state }: VaultStatus): string {
  return state === 'no_vault' ? 'Created with the first provider key.' : '–';
}
