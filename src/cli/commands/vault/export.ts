import { Command } from '@commander-js/extra-typings';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { exportVault as exportVaultContract } from '../../../shared/contract/vault.ts';
import { exportVault } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const exportVaultCommand = (context: Context) =>
  new Command('export')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway vault export --yes --quiet | lpr'))
    .action(async ({ yes }) => {
      const question =
        'Print the master key? Whoever reads it and the database can read every sealed secret.';
      await confirm(context, question, { yes });
      const exported = await context.client().call(exportVault, {});
      await context.out.record(exported, [id, secret], { pipedRow: [id, secret] });
      context.out.note('Keep it on paper. It goes back in with: gateway vault unlock --master-key');
    });

type Exported = Column<Result<typeof exportVaultContract>>;

const id: Exported = { title: 'key_id', value: (exported) => exported.key_id };
const secret: Exported = {
  title: 'master_key',
  value: (exported) => exported.master_key,
  style: () => 'bold',
  essential: true,
};
