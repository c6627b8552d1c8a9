import { Command, Option } from '@commander-js/extra-typings';
import { abilityNames, type Result } from '../../../shared/contract/endpoint.ts';
import type { createToken as createTokenContract } from '../../../shared/contract/tokens.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { createToken } from '../../site-addresses.ts';
import { example } from '../example.ts';

export const createTokenCommand = (context: Context) =>
  new Command('create')
    .argument('<name>', 'a name you will recognise later')
    .addOption(
      new Option('--ability <ability...>', 'what it may do; everything unless told').choices(abilityNames),
    )
    .option('--expires <time>', 'when it ends: a day or a time in UTC; never unless told')
    .addHelpText('after', example('gateway tokens create bot --ability shouts:write --expires 2027-01-31'))
    .action(async (name, { ability, expires }) => {
      const body = { name, abilities: ability, expires_at: expires };
      const { data } = await context.client().call(createToken, { body });
      await context.out.record(data, [id, named, able, ends, secret], { pipedRow: [id, secret] });
      context.out.note('Keep the token now: it is not shown again.');
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
