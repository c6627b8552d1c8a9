/** The higher or lower of two numbers; NULL if one of them is NULL. */
const ofTwo = (name: string, nearest: string, type: string) =>
  `CREATE FUNCTION ${name}(${type}, ${type}) RETURNS ${type} LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL ELSE ${nearest}($1, $2) END $$`;

/** The time in seconds, as SQLite has it for `now` and `subsec`. */
export const timeNow = `CREATE FUNCTION unixepoch(moment text, precise text) RETURNS double precision LANGUAGE sql VOLATILE AS $$
  SELECT extract(epoch FROM clock_timestamp())::double precision $$`;

/**
 * Functions of SQLite that PostgreSQL lacks, so that statements have one text for both engines. Lists and objects are stored
 * as text, as PostgreSQL's JSON types refuse escapes that JSON allows: NUL, and halves of surrogate pairs.
 */
const sqliteFunctions = [
  String.raw`CREATE FUNCTION readable_json(text) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (CASE WHEN strpos($1, '\u') = 0 THEN $1
      ELSE regexp_replace($1, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f]..)', '\1\\ufffd', 'gi') END)::json $$`,
  // Only the elements of lists.
  `CREATE FUNCTION json_each(text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20 AS $$
    SELECT place - 1, element FROM json_array_elements_text(gateway.readable_json($1)) WITH ORDINALITY AS elements (element, place) $$`,
  `CREATE FUNCTION json_at(text, text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_path_query_first(gateway.readable_json($1)::jsonb, $2::jsonpath) $$`,
  `CREATE FUNCTION json_value_at(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT gateway.json_at($1, $2) #>> '{}' $$`,
  `CREATE FUNCTION json_text_at(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT gateway.json_at($1, $2)::text $$`,
  'CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_value_at)',
  'CREATE OPERATOR -> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_text_at)',
  `CREATE FUNCTION json_of_list(text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_json($1)::text $$`,
  "CREATE AGGREGATE json_group_array (text) (SFUNC = array_append, STYPE = text[], INITCOND = '{}', FINALFUNC = json_of_list)",
  // Patterns have no other wildcard than the asterisk; the brackets escape characters.
  String.raw`CREATE FUNCTION glob(pattern text, value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT value LIKE replace(replace(replace(replace(replace(replace(
      pattern, '[[]', '['), '[?]', '?'), '\', '\\'), '%', '\%'), '_', '\_'), '*', '%') $$`,
  ofTwo('max', 'greatest', 'bigint'),
  ofTwo('max', 'greatest', 'double precision'),
  ofTwo('min', 'least', 'bigint'),
  // Rounded, so that the logarithm of a power of two is an integer.
  `CREATE FUNCTION log2(double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT round((ln($1) / ln(2.0::double precision))::numeric, 12)::double precision $$`,
  `CREATE FUNCTION strftime(format text, seconds bigint, unit text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_char(to_timestamp(seconds) AT TIME ZONE 'UTC',
      replace(replace(replace(replace(replace(format, '%Y', 'YYYY'), '%m', 'MM'), '%d', 'DD'), '%H', 'HH24'), '%M', 'MI')) $$`,
  `CREATE FUNCTION date(seconds bigint, unit text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT gateway.strftime('%Y-%m-%d', seconds, unit) $$`,
  `CREATE FUNCTION unixepoch(day text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT extract(epoch FROM make_date(
      substr(day, 1, 4)::integer, substr(day, 6, 2)::integer, substr(day, 9, 2)::integer))::bigint $$`,
  timeNow,
];

/** The tables whose rows the database numbers, with the column. */
export const numbered = [
  ['users', 'number'],
  ['shouts', 'id'],
  ['whispers', 'id'],
  ['peer_attempts', 'id'],
] as const;

/** A row that comes without a number gets the next one, as in SQLite. Drizzle inserts it with NULL. */
const numbering = [
  `CREATE FUNCTION take_number() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN NEW.number := nextval(TG_ARGV[0]::regclass); RETURN NEW; END $$`,
  `CREATE FUNCTION take_id() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN NEW.id := nextval(TG_ARGV[0]::regclass); RETURN NEW; END $$`,
  ...numbered.map(
    ([table, column]) =>
      `CREATE TRIGGER ${table}_numbered BEFORE INSERT ON ${table} FOR EACH ROW WHEN (NEW.${column} IS NULL)
       EXECUTE FUNCTION take_${column}('gateway.${table}_${column}_seq')`,
  ),
];

/** Money that is written stays as it is. */
const guards = [
  `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation'; END $$`,
  ...[
    ['entries_stay', 'UPDATE', 'entries', 'ledger entries are never changed'],
    ['entries_last', 'DELETE', 'entries', 'ledger entries are never deleted'],
    ['ledger_chain_stays', 'UPDATE', 'ledger_chain', 'links of the ledger chain are never changed'],
    ['ledger_chain_lasts', 'DELETE', 'ledger_chain', 'links of the ledger chain are never deleted'],
    ['credit_grants_stay', 'UPDATE', 'credit_grants', 'grants of credit are never changed'],
    ['credit_grants_last', 'DELETE', 'credit_grants', 'grants of credit are never deleted'],
  ].map(
    ([name, event, table, message]) =>
      `CREATE TRIGGER ${name} BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse('${message}')`,
  ),
  `CREATE TRIGGER wallets_not_overdrawn BEFORE UPDATE ON accounts FOR EACH ROW
   WHEN (NEW.balance < 0 AND (NEW.id LIKE 'msat:wallet:%' OR NEW.id = 'msat:in-flight'))
   EXECUTE FUNCTION refuse('a wallet would be overdrawn')`,
  `CREATE FUNCTION count_paid() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     UPDATE gateway.paywalls SET paid = paid + 1, revenue = revenue + NEW.received
     WHERE id = (SELECT paywall_id FROM gateway.paywall_challenges WHERE invoice_id = NEW.id);
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER paywalls_paid AFTER UPDATE OF state ON invoices FOR EACH ROW
   WHEN (NEW.state = 'paid' AND OLD.state = 'open') EXECUTE FUNCTION count_paid()`,
];

export const functions: readonly string[] = [...sqliteFunctions, ...numbering, ...guards];
