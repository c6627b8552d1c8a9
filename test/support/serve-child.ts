/**
 * The daemon as a process of its own, from its sources, for tests that kill it or send it signals. What it is to do
 * comes from its environment and the config.yaml of its folder.
 */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { serve } = await import('../../src/daemon/main.ts');
process.exitCode = await serve({ port: 0, env: process.env, stdout: process.stdout, stderr: process.stderr });
