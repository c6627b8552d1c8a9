import { Command } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { openApi } from '../endpoints.ts';
import { example } from '../options.ts';

export const openApiCommand = (context: Context) =>
  new Command('openapi')
    .addHelpText('after', example('gateway openapi > openapi.json'))
    .action(async () => context.out.document(await context.client().call(openApi, {})));
