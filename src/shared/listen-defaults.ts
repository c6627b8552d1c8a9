/** The default listen address, which `doctor` checks too. */
export const listenDefaults = { host: '127.0.0.1', port: 4100 } as const;
