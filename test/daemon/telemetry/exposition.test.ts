import { expect, onTestFinished, test, vi } from 'vitest';
import { expositionWriter } from '../../../src/daemon/telemetry/exposition.ts';
import { readExposition } from '../../support/prometheus-text.ts';

test('CPU time is in seconds, and includes what was used before the first scrape', async () => {
  const cpuUsage = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 3_500_000, system: 1_250_000 });
  onTestFinished(() => cpuUsage.mockRestore());
  const families = readExposition(await expositionWriter()([]));
  const seconds = ['user_', 'system_', ''].map(
    (kind) => families.get(`process_cpu_${kind}seconds_total`)?.lines[0]?.value,
  );
  expect(seconds).toEqual([3.5, 1.25, 4.75]);
});
