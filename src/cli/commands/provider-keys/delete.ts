import { Command } from '@commander-js/extra-typings';
import { deleteProviderKey } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { providerArgument } from './provider-argument.ts';

export const deleteProviderKeyCommand = (context: Context) =>
  new Command('delete')
    .addArgument(providerArgument())
    .option('--workspace <workspace>', 'the workspace whose key it is', 'me')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway provider-keys delete openai --yes'))
    .action(async (provider, { workspace, yes }) => {
      await confirm(context, `Delete the key for ${provider}? Calls that need it fail from then on.`, {
        yes,
      });
      const deleted = await context.client().call(deleteProviderKey, { params: { workspace, provider } });
      if (context.out.wantsJson()) return context.out.document(deleted);
      context.out.note(`There is no key for ${provider} now.`);
    });
