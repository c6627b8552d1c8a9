import { Command } from '@commander-js/extra-typings';
import { openApi } from '../../shared/endpoints.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';

export const openApiCommand = (context: Context) =>
  new Command('openapi')
    .addHelpText('after', example('gateway openapi > openapi.json'))
    .action(async () => context.out.document(await context.client().call(openApi, {})));
