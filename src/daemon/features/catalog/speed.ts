import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';

/** Measurements of one model at one provider over the last hour; null where there are none. */
export interface SpeedNumbers {
  attempts: number;
  /** 0 to 1. */
  uptime: number;
  ttftMsP50: number | null;
  ttftMsP90: number | null;
  tokensPerSecondP50: number | null;
}

export interface SpeedReader {
  read(provider: string, model: string): SpeedNumbers | null;
}

/** Six slices of ten minutes: a reading covers the last 50 to 60 minutes. */
const sliceCount = 6;
const sliceMs = 10 * 60 * 1000;
/** Maximum number of tracked pairs of provider and model, about 7 KB each; the oldest is dropped. */
const pairsMax = 1000;
/** Eight buckets per octave, from 2⁻² to 2¹⁸: a reading is within 5 % of the measured value. */
const bucketsPerOctave = 8;
const lowestOctave = -2;
const bucketCount = 20 * bucketsPerOctave;

/** Uptime and speed per provider and model over the last hour, in bounded memory and constant time per record. */
export class SpeedMeter implements SpeedReader {
  readonly #elapsed: () => number;
  readonly #pairs = new RecentMap<string, Slice[]>(pairsMax);

  constructor(world: Pick<World, 'elapsed'>) {
    this.#elapsed = () => world.elapsed();
  }

  /** Records an attempt that reflects on the provider, unlike a rejected key or an invalid request. */
  attempted(provider: string, model: string, outcome: { isOk: boolean; ttftMs?: number }): void {
    const slice = this.#slice(provider, model);
    slice.attempts += 1;
    if (!outcome.isOk) slice.failures += 1;
    else if (outcome.ttftMs !== undefined) slice.ttftMs.add(outcome.ttftMs);
  }

  /** Records that an answer broke off. */
  broke(provider: string, model: string): void {
    this.#slice(provider, model).failures += 1;
  }

  /** Records the speed of a whole answer. */
  finished(provider: string, model: string, tokensPerSecond: number): void {
    this.#slice(provider, model).tokensPerSecond.add(tokensPerSecond);
  }

  read(provider: string, model: string): SpeedNumbers | null {
    const oldest = this.#epoch() - sliceCount;
    const slices = this.#pairs.get(keyOf(provider, model))?.filter((slice) => slice.epoch > oldest) ?? [];
    const attempts = slices.reduce((sum, slice) => sum + slice.attempts, 0);
    if (attempts === 0) return null;
    const failures = slices.reduce((sum, slice) => sum + slice.failures, 0);
    const ttft = slices.map((slice) => slice.ttftMs);
    const speed = percentile(
      slices.map((slice) => slice.tokensPerSecond),
      0.5,
    );
    return {
      attempts,
      uptime: Math.max(0, Math.round((1 - failures / attempts) * 10_000) / 10_000),
      ttftMsP50: rounded(percentile(ttft, 0.5), 0),
      ttftMsP90: rounded(percentile(ttft, 0.9), 0),
      tokensPerSecondP50: rounded(speed, 1),
    };
  }

  #epoch(): number {
    return Math.floor(this.#elapsed() / sliceMs);
  }

  #slice(provider: string, model: string): Slice {
    const epoch = this.#epoch();
    const key = keyOf(provider, model);
    let slices = this.#pairs.get(key);
    if (slices === undefined) {
      slices = [];
      this.#pairs.set(key, slices);
    }
    const index = ((epoch % sliceCount) + sliceCount) % sliceCount;
    let slice = slices.find((candidate) => candidate.index === index);
    if (slice === undefined || slice.epoch !== epoch) {
      if (slice !== undefined) slices.splice(slices.indexOf(slice), 1);
      slice = {
        index,
        epoch,
        attempts: 0,
        failures: 0,
        ttftMs: new Histogram(),
        tokensPerSecond: new Histogram(),
      };
      slices.push(slice);
    }
    return slice;
  }
}

interface Slice {
  index: number;
  epoch: number;
  attempts: number;
  failures: number;
  ttftMs: Histogram;
  tokensPerSecond: Histogram;
}

/** Counts values in buckets that grow by a constant factor. */
class Histogram {
  readonly counts = new Uint32Array(bucketCount);
  total = 0;

  add(value: number): void {
    const octaves = Math.log2(Math.max(value, Number.MIN_VALUE)) - lowestOctave;
    const bucket = Math.min(bucketCount - 1, Math.max(0, Math.floor(octaves * bucketsPerOctave)));
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.total += 1;
  }
}

function percentile(histograms: Histogram[], part: number): number | null {
  const total = histograms.reduce((sum, histogram) => sum + histogram.total, 0);
  if (total === 0) return null;
  let left = Math.ceil(total * part);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    for (const histogram of histograms) left -= histogram.counts[bucket] ?? 0;
    if (left <= 0) return 2 ** ((bucket + 0.5) / bucketsPerOctave + lowestOctave);
  }
  return null;
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Math.round(value * 10 ** digits) / 10 ** digits;
}

const keyOf = (provider: string, model: string) => `${provider} ${model}`;
