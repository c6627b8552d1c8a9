import type { NanoUsd } from '../../../shared/money/money.ts';
import type { Question } from './question.ts';

/** A temperature that was fitted on labelled examples. */
export interface Calibration {
  /** The model as answers name it. */
  model: string;
  type: Question['type'];
  temperature: number;
  /** On how many examples it was fitted. */
  examples: number;
  /** The mean negative log-likelihood of the right option before and after, in nats. */
  nllBefore: number;
  nllAfter: number;
  /** Milliseconds since 1970. */
  fittedAt: number;
}

/** Each method is one transaction. */
export interface DecisionsStore {
  /** All of them, ordered by model and type. */
  calibrations(): Promise<Calibration[]>;
  /** Replaces the one of the same model and type. */
  saveCalibration(calibration: Calibration): Promise<void>;
  /** Resolves to whether there was one. */
  removeCalibration(of: Pick<Calibration, 'model' | 'type'>): Promise<boolean>;
  /** The cost of decisions to the host on a UTC day. */
  spentOn(day: string): Promise<NanoUsd>;
  /** Adds to what decisions cost the host on a UTC day. */
  spend(day: string, amount: NanoUsd): Promise<void>;
}
