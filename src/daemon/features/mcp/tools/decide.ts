import { Type } from 'typebox';
import { CreateDecision, createDecision } from '../../../../shared/contract/decisions.ts';
import { tool } from '../tool.ts';

const { model, questions, service } = CreateDecision.properties;

export const decideTool = tool({
  name: 'decide',
  title: 'Answer typed questions',
  description:
    'Get probabilities for typed questions about a text: whether a statement is true (`predicate`), which of several choices applies (`choice`), or which of several ordered levels (`score`). Free. Use it to classify, filter or rate many texts without generating prose. `service.method` in the result tells how the probabilities were found.',
  input: Type.Object(
    {
      model: Type.Optional(model),
      input: Type.String({ description: 'The text that the questions are about.' }),
      questions,
      service: Type.Optional(service),
    },
    { additionalProperties: false },
  ),
  endpoints: [createDecision],
  isReadOnly: true,
  run: async ({ model: named = 'service/decide', ...asked }, { ask }) => ({
    data: await ask.whole(createDecision, { headers: {}, body: { model: named, ...asked } }),
  }),
});
