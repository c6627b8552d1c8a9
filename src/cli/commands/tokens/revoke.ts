import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { listTokens, revokeToken, revokeTokens } from '../../site-addresses.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const revokeTokenCommand = (context: Context) =>
  new Command('revoke')
    .argument('[id]', 'the id of one of your tokens, tok_…')
    .option('--all', 'all of your tokens')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway tokens revoke tok_01jd… --yes'))
    .action(async (id, { all, yes }) => {
      if ((id === undefined) === (all === undefined)) {
        throw new CliError('Name one token, or say --all.', { exit: exitCodes.usage });
      }
      if (id === undefined) {
        await confirm(context, 'Revoke all of your access tokens? Calls with them fail from then on.', {
          yes,
        });
        const { data } = await context.client().call(revokeTokens, {});
        if (context.out.wantsJson()) return context.out.document(data);
        return context.out.note(`Revoked ${data.deletedCount}.`);
      }
      if (!yes)
        await confirm(
          context,
          `Revoke ${id}?${await warning(context, id)} Calls with it fail from then on.`,
          { yes },
        );
      const { data } = await context.client().call(revokeToken, { params: { tokenId: id } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.out.note(`Revoked ${id}.`);
    });

/** Whoever revokes what they are calling with should know. */
async function warning(context: Context, id: string): Promise<string> {
  const { data } = await context.client().call(listTokens, {});
  return data.some((token) => token.id === id && token.isCurrent) ? ' It is the one that you are using.' : '';
}
