import type { Context } from '../../context.ts';

/** The result of one check. */
export interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'broken';
  message: string;
  /** How to fix it; null when nothing is wrong. */
  remedy: string | null;
}

export interface DoctorOptions {
  /** Whether to call no providers. */
  offline?: true;
}

/** Reads the settings as a daemon would now; undefined if they have errors, which `checkConfig` reports. */
export async function readSettings({
  env,
  platform,
  home,
  daemon,
}: Context): Promise<((name: string) => unknown) | undefined> {
  const tools = await (await daemon()).loadConfigTools();
  const { settings, faults } = await tools.explain({ env, platform, home });
  if (faults.length > 0) return undefined;
  return (name) => settings.find((one) => one.name === name)?.value;
}
