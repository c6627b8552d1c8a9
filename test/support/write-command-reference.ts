/** Writes docs/commands.md anew: `npm run docs`. */
import { writeFile } from 'node:fs/promises';
import { commandReference } from './command-reference.ts';

await writeFile('docs/commands.md', await commandReference());
