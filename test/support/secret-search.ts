import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RunningDaemon } from './start-daemon.ts';

/** Fails if a secret, in any usual encoding, is in a daemon's files, in its output or in `seen`. */
export async function expectNoSecrets(
  daemon: RunningDaemon,
  seen: string,
  secrets: readonly Uint8Array[],
): Promise<void> {
  const { stdout, stderr } = daemon.printed();
  const texts = new Map([
    ['what clients received', seen],
    ['what the daemon printed', stdout + stderr],
  ]);
  for (const entry of await readdir(daemon.home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    texts.set(path, await readFile(path, 'latin1'));
  }
  const encoded = secrets.flatMap((bytes) =>
    (['hex', 'base64', 'base64url', 'latin1'] as const).map((encoding) =>
      Buffer.from(bytes).toString(encoding),
    ),
  );
  for (const [place, text] of texts) {
    expect(
      encoded.some((secret) => text.includes(secret)),
      place,
    ).toBe(false);
  }
}
