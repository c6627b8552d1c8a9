import { onTestFinished, vi } from 'vitest';

/** Until the test ends, this thread has taken as many milliseconds of processor time as `msOf` says. */
export function fakeCpuTime(msOf: () => number): void {
  const name = 'threadCpuUsage' in process ? 'threadCpuUsage' : 'cpuUsage';
  const clock = vi.spyOn(process, name).mockImplementation(() => ({ user: msOf() * 1000, system: 0 }));
  onTestFinished(() => clock.mockRestore());
}
