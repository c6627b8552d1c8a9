import { ownerScopes } from '../../../../shared/contract/endpoint.ts';

/**
 * SQL for the scopes that a row of `keys` has left once it passes to another owner: whoever issued it may hold its secret
 * still, and must not act in the other's name or by the other's role.
 */
export const passedOnScopes = `(SELECT json_group_array(value) FROM json_each(keys.scopes)
  WHERE value NOT IN (${ownerScopes.map((scope) => `'${scope}'`).join(', ')}))`;
