import { sseEvent } from '../../../../../shared/sse.ts';
import type { Json } from '../../fault.ts';

/** Writes events with rising sequence numbers, from 0 unless told. */
export class EventWriter {
  #sequence: number;

  constructor({ first = 0 } = {}) {
    this.#sequence = first;
  }

  next(): number {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return sequence;
  }

  write(type: string, members: Json): string {
    return sseEvent(JSON.stringify({ type, sequence_number: this.next(), ...members }), type);
  }
}
