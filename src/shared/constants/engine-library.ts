/** The library that runs the embedded engine's models. It is large, so it is installed on demand. */
export const engineLibrary = {
  name: 'node-llama-cpp',
  version: '3.22.1',
  /** Where `gateway engine install` installs it, in the data folder. */
  folder: 'engine',
} as const;

/** The provider of the embedded engine's models: `local/NAME`. */
export const localModelsProvider = 'local';

/** Graphics cards that have a build of the library; Apple's are part of its usual one. */
export const engineGpus = ['cuda', 'vulkan'] as const;

export type EngineGpu = (typeof engineGpus)[number];

const platforms: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};

/** Platforms with builds for graphics cards. */
const withGpu = new Set(['linux-x64', 'win-x64']);

/**
 * The packages to install, with their versions: the library and its build for this machine alone, as all builds together
 * take 700 MB. Undefined for a platform or graphics card without a build.
 */
export function enginePackages(
  { platform, arch }: { platform: string; arch: string },
  gpu?: EngineGpu,
): string[] | undefined {
  const build = platforms[`${platform}-${arch}`];
  if (build === undefined || (gpu && !withGpu.has(build))) return undefined;
  const builds = [
    build,
    ...(gpu ? [`${build}-${gpu}`] : []),
    ...(gpu === 'cuda' ? [`${build}-cuda-ext`] : []),
  ];
  const { name, version } = engineLibrary;
  return [`${name}@${version}`, ...builds.map((each) => `@${name}/${each}@${version}`)];
}
