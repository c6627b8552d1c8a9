/** Copies a database and says on which table it works, for tests that kill it: `FROM TO`. */
import { copyStorage } from '../../src/daemon/process/copy-storage.ts';

const [from, to = ''] = process.argv.slice(2);
const outcome = await copyStorage({
  from,
  to,
  env: process.env,
  onProgress: ({ step, table }) => process.stdout.write(`${step} ${table}\n`),
});
process.stdout.write(`${JSON.stringify(outcome)}\n`);
