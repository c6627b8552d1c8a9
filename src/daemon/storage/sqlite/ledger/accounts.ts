/** Where granted credit comes from; its balance is all that was ever granted, below zero. */
export const grantsAccount = 'grants';

/** The account of a workspace's money. */
export function accountOf(workspaceId: string): string {
  return `workspace:${workspaceId}`;
}
