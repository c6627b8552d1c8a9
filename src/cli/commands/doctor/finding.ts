import type { Context } from '../../context.ts';

/** What one check found. */
export interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'broken';
  message: string;
  /** What to do about it; null when nothing is wrong. */
  remedy: string | null;
}

/** The settings by name, as a daemon would read them now; undefined where they have faults: a check of its own tells those. */
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
