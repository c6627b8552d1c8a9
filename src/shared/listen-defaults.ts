/** Where a daemon listens that nobody told anything: `doctor` looks there, too. */
export const listenDefaults = { host: '127.0.0.1', port: 4100 } as const;
