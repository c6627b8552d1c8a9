import { users } from './tables.ts';

/** Those of a `UserRecord`. */
export const userColumns = {
  number: users.number,
  id: users.id,
  handle: users.handle,
  name: users.name,
  createdAt: users.createdAt,
};
