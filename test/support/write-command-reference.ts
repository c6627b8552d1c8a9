/** Regenerates docs/commands.md and the commands of the API reference from the manifest: `npm run docs`. */
import { writeFile } from 'node:fs/promises';
import { commandReference, commandSamplesFile, commandSamplesSource } from './command-reference.ts';

await writeFile('docs/commands.md', await commandReference());
await writeFile(commandSamplesFile, await commandSamplesSource());
