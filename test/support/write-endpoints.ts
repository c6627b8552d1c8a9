/** Regenerates src/cli/endpoints.ts from the contracts: `npm run endpoints`. */
import { writeFile } from 'node:fs/promises';
import { endpointsFile, endpointsSource } from './endpoints-source.ts';

await writeFile(endpointsFile, await endpointsSource());
