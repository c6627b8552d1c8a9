/** Runs the CLI from source, like bin/gateway.js runs the build. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { main } = await import('../../src/cli/main.ts');
await main({ serve: () => import('../../src/daemon/main.ts') });
