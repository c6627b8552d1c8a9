import { ownerScopes } from '../../../../shared/contract/endpoint.ts';

/**
 * SQL for the scopes that a row of `keys` keeps when it passes to another owner: its previous owner may still have the
 * secret, and must not act in the name or with the role of the new one.
 */
export const inheritedScopes = `(SELECT json_group_array(value) FROM json_each(keys.scopes)
  WHERE value NOT IN (${ownerScopes.map((scope) => `'${scope}'`).join(', ')}))`;
