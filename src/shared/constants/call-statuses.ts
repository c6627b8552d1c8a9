/** How a call can end, for filters of calls. */
export const callEnds = ['completed', 'incomplete', 'failed', 'canceled', 'interrupted', 'rejected'] as const;
