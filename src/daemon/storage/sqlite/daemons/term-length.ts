/** How long a daemon may write to a shared database after it last renewed its term, in milliseconds. */
export const termMs = 10_000;
