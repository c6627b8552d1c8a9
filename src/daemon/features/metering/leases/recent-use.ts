/** How far a member looks ahead: it asks for what the calls of this time took, in milliseconds. */
const aheadMs = 5_000;

/** What calls took in the last five to ten seconds. */
export class RecentUse {
  #start = 0;
  #now = 0;
  #before = 0;

  add(amount: number, at: number): void {
    this.#advance(at);
    this.#now += amount;
  }

  amount(at: number): number {
    this.#advance(at);
    return Math.max(this.#now, this.#before);
  }

  #advance(at: number): void {
    const passed = at - this.#start;
    if (passed < aheadMs) return;
    this.#before = passed < 2 * aheadMs ? this.#now : 0;
    this.#now = 0;
    this.#start = at;
  }
}
