import { expect, test } from 'vitest';
import { expositionWriter } from '../../../src/daemon/telemetry/exposition.ts';
import { readExposition } from '../../support/prometheus-text.ts';

test('the CPU time of the process is in seconds, and counts from its start', async () => {
  const write = expositionWriter();
  const before = process.cpuUsage();
  const families = readExposition(await write([]));
  const after = process.cpuUsage();
  const secondsOf = (name: string) => Number(families.get(name)?.lines[0]?.value);
  for (const kind of ['user', 'system'] as const) {
    const seconds = secondsOf(`process_cpu_${kind}_seconds_total`);
    expect(seconds).toBeGreaterThanOrEqual(before[kind] / 1e6);
    expect(seconds).toBeLessThanOrEqual(after[kind] / 1e6);
  }
});
