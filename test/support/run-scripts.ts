/**
 * Runs scripts of package.json side by side: `node test/support/run-scripts.ts lint types`. What each prints follows when it ends;
 * exits with 1 if one fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

async function succeeds(script: string): Promise<boolean> {
  const child = spawn('npm', ['run', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => printed.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  process.stdout.write(Buffer.concat(printed));
  return code === 0;
}

const results = await Promise.all(process.argv.slice(2).map(succeeds));
if (results.includes(false)) process.exitCode = 1;
