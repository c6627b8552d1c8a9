import type { Connection } from '../../engine/connection.ts';
import type { NameNumbers } from '../../engine/names.ts';

/** Beyond this number of clients in a workspace, new ones count as `other`: anyone can send any `User-Agent`. */
const clientsMax = 10_000;
const otherClients = 'other';
/** Clients kept in memory; after that many, they are looked up again. */
const knownMax = 20_000;

/**
 * Writer-thread side of the table `clients`, which lists the clients of each workspace. Like names, new ones are written
 * before the COMMIT of their batch.
 */
export class ClientNumbers {
  readonly #names: NameNumbers;
  readonly #isListed: (workspace: number, client: number) => boolean;
  readonly #countOf: (workspace: number) => number;
  readonly #insert: (workspace: number, client: number) => unknown;
  readonly #known = new Map<number, Map<string, number>>();
  readonly #counts = new Map<number, number>();
  #knownCount = 0;
  #added: [workspace: number, client: number][] = [];

  constructor(database: Connection, names: NameNumbers) {
    this.#names = names;
    const listed = database
      .prepare<[number, number], number>('SELECT 1 FROM clients WHERE workspace = ? AND client = ?')
      .pluck();
    const count = database
      .prepare<[number], number>('SELECT count(*) FROM clients WHERE workspace = ?')
      .pluck();
    const insert = database.prepare<[number, number]>(
      'INSERT INTO clients (workspace, client) VALUES (?, ?)',
    );
    this.#isListed = (workspace, client) => listed.get(workspace, client) !== undefined;
    this.#countOf = (workspace) => count.get(workspace) ?? 0;
    this.#insert = (workspace, client) => insert.run(workspace, client);
  }

  /** The number of a client's name. */
  of(workspace: number, client: string): number {
    return this.#known.get(workspace)?.get(client) ?? this.#learn(workspace, client);
  }

  begin(): void {
    this.#added = [];
    if (this.#knownCount > knownMax) this.#forget();
  }

  flush(): void {
    for (const [workspace, client] of this.#added) this.#insert(workspace, client);
  }

  /** Forgets everything after a ROLLBACK. */
  revert(): void {
    this.#forget();
  }

  /** Call it in a transaction whose database another writer has changed. */
  reload(): void {
    this.#counts.clear();
  }

  #learn(workspace: number, client: string): number {
    const count = this.#counts.get(workspace) ?? this.#countOf(workspace);
    const found = this.#names.find(client);
    const isNew = found === undefined || !this.#isListed(workspace, found);
    const isOther = isNew && count >= clientsMax;
    const number = this.#names.of(isOther ? otherClients : client);
    if (isNew && !isOther) this.#added.push([workspace, number]);
    this.#counts.set(workspace, isNew && !isOther ? count + 1 : count);
    // What counts as other is not kept, as there is no end to it.
    if (!isOther) this.#keep(workspace, client, number);
    return number;
  }

  #keep(workspace: number, client: string, number: number): void {
    const known = this.#known.get(workspace);
    if (known) known.set(client, number);
    else this.#known.set(workspace, new Map([[client, number]]));
    this.#knownCount += 1;
  }

  #forget(): void {
    this.#known.clear();
    this.#counts.clear();
    this.#knownCount = 0;
    this.#added = [];
  }
}
