import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';

export const configSchemaCommand = (context: Context) =>
  new Command('schema')
    .addHelpText('after', example('gateway config schema > ~/.config/gateway/config.schema.json'))
    .action(async () => {
      const tools = await (await context.daemon()).loadConfigTools();
      const schema = tools.schema();
      if (context.out.wantsJson()) return context.out.document(schema);
      context.io.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    });
