import { integer, sqliteTable, text } from '../orm.ts';

/** Numbers that the engine itself remembers; `meta.ts` names them. */
export const meta = sqliteTable('meta', {
  name: text('name').primaryKey(),
  value: integer('value').notNull(),
});
