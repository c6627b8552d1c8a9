/** The endpoints that answer typed decisions. */
export const decisionPaths = { decisions: '/v1/decisions', systemOne: '/v1/systemone' } as const;

/** Whether calls of this endpoint count as decisions: they are free, and agents have a daily allowance of their own. */
export function isDecisionPath(path: string): boolean {
  return path === decisionPaths.decisions || path === decisionPaths.systemOne;
}
