import { Command } from '@commander-js/extra-typings';
import { clearCache } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';

export const clearCacheCommand = (context: Context) =>
  new Command('clear')
    .option('--workspace <workspace>', 'the workspace whose cache it is', 'me')
    .addHelpText('after', example('gateway cache clear'))
    .action(async ({ workspace }) => {
      const cleared = await context.client().call(clearCache, { params: { workspace } });
      if (context.out.wantsJson()) return context.out.document(cleared);
      const { removed } = cleared;
      context.out.note(`${removed} ${removed === 1 ? 'answer was' : 'answers were'} dropped.`);
    });
