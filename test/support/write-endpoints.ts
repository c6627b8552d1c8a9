/** Regenerates from the contracts what commands know of them: `npm run endpoints`. */
import { writeFile } from 'node:fs/promises';
import { autopilotFieldsFile, autopilotFieldsSource } from './autopilot-fields-source.ts';
import { endpointsFile, endpointsSource } from './endpoints-source.ts';

await writeFile(endpointsFile, await endpointsSource());
await writeFile(autopilotFieldsFile, autopilotFieldsSource());
