import { prepareDatabase } from '../../../../../src/daemon/storage/sqlite/prepare-database.ts';
import { slowMigrations as migrations } from './slow-migrations.ts';

/** Migrates a database, for tests that kill it meanwhile: `node migrate-child.ts FILE`. */
const [file = ''] = process.argv.slice(2);
const log = { info: () => {}, warn: () => {}, error: () => {} };
process.stdout.write('started\n');
prepareDatabase({ file, now: Date.now, log, migrations }).close();
process.stdout.write('ended\n');
