/** Runs the CLI, as bin/gateway.js runs the build. */
import { main } from '../../src/cli/main.ts';

await main({ serve: () => import('../../src/daemon/main.ts') });
