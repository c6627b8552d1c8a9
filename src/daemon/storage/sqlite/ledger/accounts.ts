/** The source of granted credit; its balance is minus the sum of all grants. */
export const grantsAccount = 'grants';

/** The account of a workspace. */
export function workspaceAccount(workspaceId: string): string {
  return `workspace:${workspaceId}`;
}
