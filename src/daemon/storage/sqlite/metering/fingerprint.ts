import { generatePrimeSync, randomInt } from 'node:crypto';

/** Products of two remainders fit into the integers of SQLite. */
const primeBits = 31;
/** A LIMIT of a subquery that leaves no row out, and keeps SQLite from merging it into the query around it. */
export const everyRow = `LIMIT ${Number.MAX_SAFE_INTEGER}`;

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
  terms(groups: Readonly<Record<string, string>>, values: Readonly<Record<string, string>>): string {
    const group = Object.entries(groups).map(([name, sql]) => `(${sql}) * ${this.#coefficient(name)}`);
    const value = Object.entries(values).map(
      ([name, sql]) => `(${sql}) % ${this.#modulus} * ${this.#coefficient(name)}`,
    );
    const constant = this.#coefficient('');
    return `(${group.join(' + ')} + ${constant}) % ${this.#modulus} AS group_print,
      (${value.join(' + ')}) % ${this.#modulus} AS value_print`;
  }

  /** A SELECT term that sums up rows of a subquery with `terms`. The subquery needs `everyRow`, or each use would compute them again. */
  get sum(): string {
    const square = `(group_print * group_print % ${this.#modulus})`;
    const weight = `(${square} * ${square} % ${this.#modulus} * ${square} % ${this.#modulus})`;
    return `coalesce(sum(${weight} * value_print % ${this.#modulus}), 0) % ${this.#modulus}`;
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
