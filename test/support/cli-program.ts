/** Runs the CLI, as bin/gateway.js runs the build. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, 'compile-cache'));
const { main } = await import('../../src/cli/main.ts');

await main({ serve: () => import('../../src/daemon/main.ts') });
