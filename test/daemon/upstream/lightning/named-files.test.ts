import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ReloadableSettings } from '../../../../src/daemon/config/config.ts';
import { createLightning } from '../../../../src/daemon/upstream/lightning/configured-backend.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { lndMacaroon, startFakeLnd } from '../../../support/lightning/fake-lnd.ts';
import { localhostCertificate, testCertificate } from '../../../support/test-certificate.ts';

const never = new AbortController().signal;

/** LND, whose certificate and macaroon are in files. */
async function start() {
  const node = await startFakeLnd();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-lnd-'));
  const files = { certificateFile: join(folder, 'tls.cert'), secretFile: join(folder, 'gateway.macaroon') };
  const lightning = createLightning({
    settings: {
      lightning: {
        backend: 'lnd',
        network: 'regtest',
        url: node.url,
        ...files,
      } as ReloadableSettings['lightning'],
    },
    embedded: {} as never,
    vault: { version: async () => 0, open: async () => Buffer.alloc(0) },
    connectTimeoutMs: 5000,
    proxies: undefined,
    world: fakeWorld(),
  });
  onTestFinished(async () => {
    await lightning.close();
    await node.close();
    await rm(folder, { recursive: true });
  });
  const check = () =>
    lightning
      .backend()
      .check(never)
      .then(({ problems }) => problems.join() || 'ready')
      .catch(({ message }) => message);
  return { ...files, check };
}

test('a certificate that LND renewed is trusted without a restart (getAlby/hub#800)', async () => {
  const { certificateFile, secretFile, check } = await start();
  await writeFile(secretFile, Buffer.from(lndMacaroon, 'hex'));
  expect(await check()).toContain('cannot be read (ENOENT)');
  await writeFile(certificateFile, testCertificate.cert);
  expect(await check()).toContain('certificate is not trusted');
  await writeFile(certificateFile, localhostCertificate.cert);
  expect(await check()).toBe('ready');
});

test('the last certificate that could be read is trusted while its file is replaced', async () => {
  const { certificateFile, secretFile, check } = await start();
  await writeFile(secretFile, Buffer.from(lndMacaroon, 'hex'));
  await writeFile(certificateFile, localhostCertificate.cert);
  expect(await check()).toBe('ready');
  await writeFile(certificateFile, localhostCertificate.cert.slice(0, 200));
  expect(await check()).toBe('ready');
  await unlink(certificateFile);
  expect(await check()).toBe('ready');
  await writeFile(certificateFile, testCertificate.cert);
  expect(await check()).toContain('certificate is not trusted');
});

test('a macaroon that was replaced is used for the next call', async () => {
  const { certificateFile, secretFile, check } = await start();
  await writeFile(certificateFile, localhostCertificate.cert);
  await writeFile(secretFile, Buffer.from('02'.repeat(60), 'hex'));
  expect(await check()).toContain('rejects the macaroon');
  await writeFile(secretFile, Buffer.from(lndMacaroon, 'hex'));
  expect(await check()).toBe('ready');
});
