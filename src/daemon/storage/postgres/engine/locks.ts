/** Held by each transaction that writes, so that they run one after the other. Any numbers that nothing else in the database uses will do. */
export const writeLock = 0x47574157;
/** Held by each transaction that migrates. */
export const migrationLock = 0x47574159;
/** The first half of the locks that say whose connection that writes is open; the second is the number of the daemon. */
export const sessionLocks = 0x47574153;
/** The same of the connection that reads the changes of other daemons. */
export const presenceLocks = 0x47574150;

/** SQL of the clock of the server, in milliseconds since 1970. */
export const serverClock = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
