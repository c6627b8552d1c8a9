/**
 * The processor time, in milliseconds, that this process takes for some work. Unlike the clock, it hardly grows while others
 * use the machine.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
