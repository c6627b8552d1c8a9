// Puts the clone's own command beside those of its dependencies, so that `npx gateway` runs it at once: without the
// link npx would install the clone into its cache first, and build it again.
import { chmodSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

const folder = 'node_modules/.bin';
if (existsSync(folder)) {
  const link = `${folder}/gateway`;
  rmSync(link, { force: true });
  chmodSync('bin/gateway.js', 0o755);
  if (process.platform === 'win32') {
    writeFileSync(`${link}.cmd`, '@node "%~dp0\\..\\..\\bin\\gateway.js" %*\r\n');
  } else {
    symlinkSync('../../bin/gateway.js', link);
  }
}
