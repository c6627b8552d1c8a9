import { Command } from '@commander-js/extra-typings';
import type { ProviderKeyCheck } from '../../../shared/contract/provider-keys.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { checkProviderKey } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';
import { providerArgument } from './provider-argument.ts';

export const checkProviderKeyCommand = (context: Context) =>
  new Command('check')
    .addArgument(providerArgument())
    .option('--workspace <workspace>', 'the workspace whose key it is', 'me')
    .addHelpText('after', example('gateway provider-keys check openai && echo good'))
    .action(async (provider, { workspace }) => {
      const check = await context.client().call(checkProviderKey, { params: { workspace, provider } });
      await context.out.record(check, columns, { pipedRow: columns });
      context.exit = exitOf[check.result];
    });

const exitOf = {
  good: exitCodes.done,
  refused: exitCodes.refused,
  unreachable: exitCodes.tryLater,
} as const;

const colours = { good: 'green', refused: 'red', unreachable: 'yellow' } as const;

const columns: Column<ProviderKeyCheck>[] = [
  { title: 'provider', value: (check) => check.provider },
  { title: 'result', value: (check) => check.result, style: (check) => colours[check.result] },
  { title: 'message', value: (check) => check.message },
];
