import { migrations } from '../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { prepareDatabase } from '../../../../../src/daemon/storage/sqlite/engine/prepare.ts';

/** Brings a database up to date, for tests that kill it meanwhile: `node migrate-child.ts FILE`. */
const [file = ''] = process.argv.slice(2);
const log = { info: () => {}, warn: () => {}, error: () => {} };
process.stdout.write('begins\n');
prepareDatabase({ file, now: Date.now, log, migrations });
process.stdout.write('ended\n');
