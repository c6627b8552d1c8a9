/** The command line from its sources, as bin/gateway.js starts the built one. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { main } = await import('../../src/cli/main.ts');
await main({ serve: () => import('../../src/daemon/main.ts') });
