import type { Changes } from '../../base/changes.ts';
import type { SourceAnswer } from './decision-source.ts';
import { atTemperature } from './distribution.ts';
import type { Question, QuestionAnswer } from './question.ts';
import type { Calibration, DecisionsStore } from './store.ts';

type Store = Pick<DecisionsStore, 'calibrations' | 'saveCalibration' | 'removeCalibration'>;

/** The fitted temperatures by model and type of question, kept in memory. */
export class Calibrations {
  readonly #store: Store;
  #all: Calibration[] = [];

  constructor(store: Store, changes: Changes) {
    this.#store = store;
    changes.subscribe('calibrations', () => this.load());
  }

  /** To be called before the first decision. */
  async load(): Promise<void> {
    this.#all = await this.#store.calibrations();
  }

  list(): readonly Calibration[] {
    return this.#all;
  }

  async save(calibration: Calibration): Promise<void> {
    await this.#store.saveCalibration(calibration);
  }

  async remove(of: Pick<Calibration, 'model' | 'type'>): Promise<boolean> {
    return await this.#store.removeCalibration(of);
  }

  /** The answers at their temperatures, and whether every answered question has one. Calibrated answers stay as they are. */
  applied(
    { model, answers, calibrated: isCalibrated }: Pick<SourceAnswer, 'model' | 'answers' | 'calibrated'>,
    questions: readonly Question[],
  ): { answers: readonly QuestionAnswer[]; calibrated: boolean } {
    if (isCalibrated) return { answers, calibrated: true };
    let calibrated = answers.some((answer) => !('refused' in answer));
    const scaled = answers.map((answer, at): QuestionAnswer => {
      if ('refused' in answer) return answer;
      const temperature = this.#temperatureOf(model, questions[at]?.type);
      if (temperature === undefined) {
        calibrated = false;
        return answer;
      }
      const { probabilities, diagnostics } = answer;
      return {
        probabilities: atTemperature(probabilities, temperature),
        diagnostics: { ...diagnostics, temperature },
      };
    });
    return { answers: scaled, calibrated };
  }

  #temperatureOf(model: string, type: Question['type'] | undefined): number | undefined {
    return this.#all.find((each) => each.model === model && each.type === type)?.temperature;
  }
}
