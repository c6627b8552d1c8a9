import { Command, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { getVault, unlockVault } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { askSecret } from '../ask-secret.ts';
import { example } from '../example.ts';
import { showVault } from './show-vault.ts';

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
