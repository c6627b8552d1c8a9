import { generatePrimeSync, randomInt } from 'node:crypto';

/** Products of two remainders fit into the integers of SQLite. */
const primeBits = 31;
/** A LIMIT of a subquery that leaves no row out, and keeps SQLite from merging it into the query around it. */
export const everyRow = `LIMIT ${Number.MAX_SAFE_INTEGER}`;

type Expressions = Readonly<Record<string, string>>;

const groupPrint = (table: number) => `group_print_${table}`;

/** So do sums of ten products of a remainder and a coefficient. */
const coefficientMax = 2 ** 28;

/**
 * Compares sums per group without grouping, which takes five times as long: the sum over all rows of a random combination of
 * the values, times the sixth power of a random combination of the group's columns, modulo a random prime.
 *
 * Tables whose sums differ in up to seven groups have different fingerprints but once in a hundred million verifications,
 * however the differences compensate for each other; those that differ in more groups too, unless the differences follow the
 * binomial coefficients. Each verification draws numbers of its own, so that no difference is missed twice.
 */
export class Fingerprint {
  readonly #modulus = Number(generatePrimeSync(primeBits, { bigint: true }));
  readonly #coefficients = new Map<string, number>();

  /** SELECT terms for one row, from SQL expressions by the names of columns. */
  terms(groups: Expressions, values: Expressions): string {
    return this.termsOfTables([groups], values);
  }

  /** The same for tables that sum up the same values by groups of their own. */
  termsOfTables(tables: readonly Expressions[], values: Expressions): string {
    const groups = tables.map((table, index) => {
      const group = Object.entries(table).map(([name, sql]) => `(${sql}) * ${this.#coefficient(name)}`);
      return `(${group.join(' + ')} + ${this.#coefficient('')}) % ${this.#modulus} AS ${groupPrint(index)}`;
    });
    const value = Object.entries(values).map(
      ([name, sql]) => `(${sql}) % ${this.#modulus} * ${this.#coefficient(name)}`,
    );
    return `${groups.join(', ')}, (${value.join(' + ')}) % ${this.#modulus} AS value_print`;
  }

  /** A SELECT term that sums up rows of a subquery with `terms`. The subquery needs `everyRow`, or each use would compute them again. */
  get sum(): string {
    return this.sumOfTable(0, 'TRUE');
  }

  /** The same for a table of `termsOfTables`, of the rows that a condition selects. */
  sumOfTable(index: number, where: string): string {
    const print = groupPrint(index);
    const square = `(${print} * ${print} % ${this.#modulus})`;
    const weight = `(${square} * ${square} % ${this.#modulus} * ${square} % ${this.#modulus})`;
    const sum = `sum(${weight} * value_print % ${this.#modulus}) FILTER (WHERE ${where})`;
    return `coalesce(${sum}, 0) % ${this.#modulus}`;
  }

  /** The fingerprint of two parts of a table, from those of each. */
  add(one: number, other: number): number {
    return (((one + other) % this.#modulus) + this.#modulus) % this.#modulus;
  }

  #coefficient(column: string): number {
    let coefficient = this.#coefficients.get(column);
    if (coefficient === undefined) {
      coefficient = randomInt(1, coefficientMax);
      this.#coefficients.set(column, coefficient);
    }
    return coefficient;
  }
}
