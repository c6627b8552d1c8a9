/** How the values of a statement are numbered: by position, or by the names of an object's members. */
export interface NumberedSql {
  /** With `$1`, `$2` …. */
  sql: string;
  /** The name of each parameter; undefined for those by position. */
  names: (string | undefined)[];
}

// Quoted text, names and comments (statements have none in `/* */`), in which a question mark is no parameter, come first.
const token =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\?|[@:](?<name>[A-Za-z_]\w*)|::|\b(?<camel>[a-z]+[A-Z]\w*)/g;

/** Drizzle writes `on conflict ("table"."column")` for SQLite. PostgreSQL takes no table there. */
const conflictTarget = /\bon conflict \([^()]*\)/g;

/**
 * A statement in the way of PostgreSQL: parameters `?` and `@name` are numbered, and names such as `createdAt` are quoted, as
 * their capitals would be lost.
 */
export function numberParameters(text: string): NumberedSql {
  const names: (string | undefined)[] = [];
  const columnsOnly = text.replace(conflictTarget, (target) => target.replace(/"\w+"\./g, ''));
  const sql = columnsOnly.replace(token, (found, ...rest) => {
    const { name, camel } = rest.at(-1) as { name?: string; camel?: string };
    if (found === '?') return `$${names.push(undefined)}`;
    if (camel !== undefined) return `"${camel}"`;
    if (name === undefined) return found;
    const known = names.indexOf(name);
    return `$${known < 0 ? names.push(name) : known + 1}`;
  });
  return { sql, names };
}
