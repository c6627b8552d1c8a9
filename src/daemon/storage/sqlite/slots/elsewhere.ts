/**
 * SQL of how many slots of `@name` other daemons than `@daemon` have, and how many are due to them: to those that have waited for
 * longer than this one, or to all if this one does not wait.
 */
export const elsewhereSql = `SELECT count(*) FROM call_slots AS other
  WHERE other.name = @name AND other.daemon <> @daemon AND (other.is_due = 0 OR other.number < coalesce(
    (SELECT own.number FROM call_slots AS own
     WHERE own.name = @name AND own.daemon = @daemon AND own.is_due = 1), 9007199254740991))`;
