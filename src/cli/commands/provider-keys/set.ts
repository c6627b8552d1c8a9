import { Command } from '@commander-js/extra-typings';
import { putProviderKey } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { askSecret } from '../ask-secret.ts';
import { example } from '../example.ts';
import { columns } from './columns.ts';
import { providerArgument } from './provider-argument.ts';

export const setProviderKeyCommand = (context: Context) =>
  new Command('set')
    .addArgument(providerArgument())
    .option('--workspace <workspace>', 'the workspace whose calls may use it', 'me')
    .option('--from-env <name>', 'the environment variable that holds the key')
    .addHelpText('after', example('gateway provider-keys set openai --from-env OPENAI_API_KEY'))
    .action(async (provider, { workspace, fromEnv }) => {
      const key = await askSecret(context, { prompt: `Key for ${provider}`, fromEnv });
      const params = { workspace, provider };
      const stored = await context.client().call(putProviderKey, { params, body: { key } });
      const shown = columns(context.now());
      await context.out.record(stored, shown, { pipedRow: shown });
      context.out.note(`Ask ${provider} whether it takes it: gateway provider-keys check ${provider}`);
    });
