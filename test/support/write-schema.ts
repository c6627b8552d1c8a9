/** Regenerates the schema of new databases from the migrations: `npm run schema`. */
import { writeFile } from 'node:fs/promises';
import { schemaFile, schemaSource } from './schema-source.ts';

await writeFile(schemaFile, schemaSource());
