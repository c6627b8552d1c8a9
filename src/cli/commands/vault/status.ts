import { Command } from '@commander-js/extra-typings';
import { getVault } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { showVault } from './show-vault.ts';

export const vaultStatusCommand = (context: Context) =>
  new Command('status')
    .addHelpText('after', example('gateway vault status --json=state,store'))
    .action(async () => {
      await showVault(context, await context.client().call(getVault, {}), { mustBeOpen: false });
    });
