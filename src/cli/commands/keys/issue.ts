import { Command, Option } from '@commander-js/extra-typings';
import { type Input, type Result, scopeNames } from '../../../shared/contract/endpoint.ts';
import type { ActionName } from '../../../shared/contract/key-limits.ts';
import type { issueKey as issueKeyContract } from '../../../shared/contract/keys.ts';
import { issueKey } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';
import { defaultFlags, defaultsChange } from './default-flags.ts';
import { limitFlags, limitsChange } from './limit-flags.ts';

export const issueKeyCommand = (context: Context) =>
  defaultFlags(
    limitFlags(
      new Command('issue')
        .option('--workspace <workspace>', 'the workspace that will own the key', 'me')
        .option('--name <name>', 'a name you will recognise later')
        .addOption(new Option('--scope <scope...>', 'what the key may do').choices(scopeNames))
        .option(
          '--allow-model <pattern...>',
          'the only models for its whole life; * stands for any characters',
        )
        .addOption(
          new Option('--allow-action <action...>', 'the only kinds of calls for its whole life').choices(
            actions,
          ),
        ),
    ),
  )
    .addHelpText(
      'after',
      example('export GATEWAY_KEY=$(gateway keys issue --name ci --spend-cap 5/day --quiet)'),
    )
    .action(({ workspace, name, scope: scopes, allowModel: models, allowAction: actions, ...flags }) => {
      const change = limitsChange(flags, context.now());
      const limits = Object.keys(change).length > 0 ? change : undefined;
      const wanted = defaultsChange(flags);
      const defaults = Object.keys(wanted).length > 0 ? wanted : undefined;
      return issueKeyAndShow(context, {
        params: { workspace },
        body: { name, scopes, models, actions, limits, defaults },
      });
    });

/** As the contract has them; loading it would load its schemas too. */
const actions = ['responses', 'chat', 'compact'] as const satisfies readonly ActionName[];

/** Piped, the output is the id, a tab and the secret; with --quiet the secret alone. */
async function issueKeyAndShow(context: Context, input: Input<typeof issueKeyContract>): Promise<void> {
  const issued = await context.client().call(issueKey, input);
  await context.out.record(issued, [id, name, scopes, secret], { pipedRow: [id, secret] });
  context.out.note('Keep the secret now: it is not shown again.');
}

type Issued = Column<Result<typeof issueKeyContract>>;

const id: Issued = { title: 'id', value: ({ key }) => key.id };
const name: Issued = { title: 'name', value: ({ key }) => key.name };
const scopes: Issued = { title: 'scopes', value: ({ key }) => key.scopes.join(' ') };
const secret: Issued = {
  title: 'secret',
  value: (issued) => issued.secret,
  style: () => 'bold',
  essential: true,
};
