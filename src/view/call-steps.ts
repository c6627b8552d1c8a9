/** What Gateway does in a call besides asking providers, as all clients name it. */
export const stepNames = { admitted: 'plan', held: 'reserve cost', settled: 'record cost' } as const;
