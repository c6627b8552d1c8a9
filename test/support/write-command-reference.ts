/** Regenerates docs/commands.md from the manifest: `npm run docs`. */
import { writeFile } from 'node:fs/promises';
import { commandReference } from './command-reference.ts';

await writeFile('docs/commands.md', await commandReference());
