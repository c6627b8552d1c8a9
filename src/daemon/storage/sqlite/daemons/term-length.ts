/** How long a daemon may write to a shared database after it last renewed its term, in milliseconds. */
export const termMs = 10_000;

/** SQL of the clock of the database, in milliseconds since 1970. */
export const clock = "CAST(unixepoch('now', 'subsec') * 1000 AS bigint)";
