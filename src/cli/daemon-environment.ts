/**
 * What a daemon in the background starts with, unless the user sets it. With glibc, each thread would keep what it freed in an
 * arena of its own, 36 MB in all after a load.
 */
export const daemonEnvironment = { MALLOC_ARENA_MAX: '2' };
