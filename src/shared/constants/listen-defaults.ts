/** The default listen addresses, which `doctor` checks too. */
export const listenDefaults = { host: '127.0.0.1', port: 4100, paywallsPort: 4101 } as const;

/** The most threads that serve model calls. */
export const workersMax = 16;
