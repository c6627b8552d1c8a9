import { type Static, Type } from 'typebox';
import { questionTypes } from './decisions.ts';
import { endpoint } from './endpoint.ts';
import { deleted, StrictObject, Timestamp } from './vocabulary.ts';

const QuestionType = Type.Enum(questionTypes, { description: 'The type of question.' });
const Temperature = Type.Number({
  minimum: 0.01,
  maximum: 100,
  description: 'Above 1: the probabilities become flatter.',
});
const fit = {
  temperature: Temperature,
  examples: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'On how many labelled examples it was fitted.',
  }),
  nll_before: Type.Number({
    minimum: 0,
    description: 'Mean negative log-likelihood of the right option, in nats.',
  }),
  nll_after: Type.Number({ minimum: 0, description: 'The same at this temperature.' }),
};

/** A temperature that was fitted on labelled examples. */
export const Calibration = Type.Object(
  {
    model: Type.String({ description: 'The model as answers name it.' }),
    type: QuestionType,
    ...fit,
    fitted_at: Timestamp,
  },
  { $id: 'Calibration' },
);

const ofOwner = {
  path: '/v1/admin/decisions/calibrations',
  tag: 'Decisions',
  access: { login: 'owner', loginOnly: true },
} as const;

const ModelName = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The model as answers name it.',
});

export const listCalibrations = endpoint({
  ...ofOwner,
  id: 'listCalibrations',
  method: 'GET',
  summary: 'List the calibrations of decisions.',
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(Calibration) }),
});

export const putCalibration = endpoint({
  ...ofOwner,
  id: 'putCalibration',
  method: 'PUT',
  summary: 'Set the calibration of a model for a type of question.',
  description: 'Later decisions of the model are scaled by the temperature, and are `calibrated`.',
  body: StrictObject({ model: ModelName, type: QuestionType, ...fit }),
  result: Calibration,
});

export const deleteCalibration = endpoint({
  ...ofOwner,
  id: 'deleteCalibration',
  method: 'DELETE',
  summary: 'Remove a calibration.',
  query: Type.Object({ model: ModelName, type: QuestionType }),
  result: deleted('calibration'),
});

export type Calibration = Static<typeof Calibration>;
