import { Command, Option } from '@commander-js/extra-typings';
import { abilityNames, type Result } from '../../shared/contract/endpoint.ts';
import type { AccessToken, createToken as createTokenContract } from '../../shared/contract/tokens.ts';
import { createToken, listTokens, revokeToken, revokeTokens } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { noSuch } from '../failures/no-such.ts';
import { asGiven, resolveToken } from '../names/resolve.ts';
import { example, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { futureTime } from '../times.ts';

export const createTokenCommand = (context: Context) =>
  new Command('create')
    .argument('<name>', 'a name to recognise it by')
    .addOption(
      new Option('--ability <ability...>', 'permissions of the token (default: all)').choices(abilityNames),
    )
    .option(
      '--expires <time>',
      'when it expires: 30d, 12h, a UTC day or a time (default: never)',
      futureTime(context),
    )
    .addHelpText('after', example('gateway tokens create bot --ability shouts:write --expires 2027-01-31'))
    .action(async (name, { ability, expires }) => {
      const body = { name, abilities: ability, expires_at: expires };
      const { data } = await context.client().call(createToken, { body });
      await context.out.record(data, [id, named, able, ends, secret], {
        pipedRow: [id, secret],
        shownOnce: secret,
      });
      context.out.note('Save the token now: it is not shown again.');
    });

type Made = Column<Result<typeof createTokenContract>['data']>;

const id: Made = { title: 'id', value: (made) => made.id };
const named: Made = { title: 'name', value: ({ name }) => name };
const able: Made = { title: 'abilities', value: (made) => made.abilities.join(' ') };
const ends: Made = {
  title: 'expires',
  value: ({ expiresAt }) => expiresAt,
  show: ({ expiresAt }) => expiresAt ?? 'never',
};
const secret: Made = {
  title: 'token',
  value: ({ token }) => token,
  style: () => 'bold',
  essential: true,
};

export const listTokensCommand = (context: Context) =>
  new Command('list').addHelpText('after', example('gateway tokens list --json=id,name')).action(async () => {
    const { data } = await context.client().call(listTokens, {});
    await context.out.table(data, tokenColumns(context.now()), { empty: 'No access tokens.' });
  });

const tokenColumns = (now: number): Column<AccessToken>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name },
  { title: 'abilities', value: ({ abilities }) => abilities.join(' ') },
  {
    title: 'expires',
    value: ({ expiresAt }) => expiresAt,
    show: ({ expiresAt }) => (expiresAt === null ? 'never' : ago(expiresAt, now)),
  },
  {
    title: 'last_used',
    value: ({ lastUsedAt }) => lastUsedAt,
    show: ({ lastUsedAt }) => ago(lastUsedAt, now),
  },
  {
    title: 'current',
    value: ({ isCurrent }) => isCurrent,
    show: ({ isCurrent }) => (isCurrent ? 'yes' : ''),
    isSpare: true,
  },
];

export const revokeTokenCommand = (context: Context) =>
  new Command('revoke')
    .argument('[token]', 'the id (tok_…) or name of one of your tokens')
    .option('--all', 'all of your tokens')
    .addOption(yesOption())
    .addHelpText('after', example('gateway tokens revoke tok_01jd… --yes'))
    .action(async (given, { all, yes }) => {
      if ((given === undefined) === (all === undefined)) {
        throw new CliError('Give a token, or --all.', { exit: exitCodes.usage });
      }
      if (given === undefined) {
        await confirm(context, 'Revoke all your access tokens? Calls with them will fail.', {
          yes,
        });
        const { data } = await context.client().call(revokeTokens, {});
        return context.out.done(data, `Revoked ${data.deletedCount}.`);
      }
      const id = await resolveToken(context, given);
      const name = asGiven(given, id);
      const current = !yes && (await requireToken(context, id)).isCurrent ? ' It is the token in use.' : '';
      await confirm(context, `Revoke ${name}?${current} Calls with it will fail.`, { yes });
      const { data } = await context.client().call(revokeToken, { params: { tokenId: id } });
      return context.out.done(data, `Revoked ${name}.`);
    });

/** One of the caller's tokens. Fails if none has this id. */
async function requireToken(context: Context, id: string): Promise<AccessToken> {
  const { data } = await context.client().call(listTokens, {});
  const token = data.find((each) => each.id === id);
  if (token === undefined) throw noSuch('token', id, 'gateway tokens list');
  return token;
}
