import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { addUsers, aSettlement, morning, type OpenStorage } from './records.ts';

export function backupStoreContract(open: OpenStorage): void {
  const order = {
    at: morning,
    files: [{ name: 'data.key', content: Buffer.from('key') }],
    version: '1.2.3',
    withContent: false,
  };

  describe('a backup', () => {
    test('is a new file with the facts about it', async () => {
      const storage = await open();
      await addUsers(storage);
      await storage.metering.settle(aSettlement('req_1'));
      const progress: number[] = [];
      const make = () =>
        storage.backups.make(order, {
          onProgress: ({ doneBytes, totalBytes }) => progress.push(doneBytes / totalBytes),
          signal: new AbortController().signal,
        });
      const first = await make();
      const second = await make();
      expect(first).toMatchObject({
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        masters: [],
        contentBytes: null,
      });
      expect(first.bytes).toBeGreaterThan(0);
      expect(existsSync(first.file)).toBe(true);
      expect(second.file).not.toBe(first.file);
      // On a server, the terms of daemons are renewed meanwhile.
      if (storage.server === undefined) expect(second.digest).toBe(first.digest);
      expect(progress.at(-1)).toBe(1);
    });

    test('that is aborted leaves no file', async () => {
      const { backups } = await open();
      const abort = AbortSignal.abort(new Error('stopped'));
      await expect(backups.make(order, { onProgress: () => {}, signal: abort })).rejects.toThrow('stopped');
    });
  });
}
