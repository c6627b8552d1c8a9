import { Command, Option } from '@commander-js/extra-typings';
import { getVault, rotateVault } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { showVault } from './show-vault.ts';
import { newPassphrase } from './unlock.ts';

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
