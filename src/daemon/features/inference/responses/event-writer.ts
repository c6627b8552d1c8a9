import { sseEvent } from '../../../../shared/sse.ts';
import type { Json } from '../fault.ts';

/** Writes events with rising sequence numbers, from 0. */
export class EventWriter {
  #sequence = 0;

  next(): number {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return sequence;
  }

  write(type: string, members: Json): string {
    return sseEvent(JSON.stringify({ type, sequence_number: this.next(), ...members }), type);
  }
}
