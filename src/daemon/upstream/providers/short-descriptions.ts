import { toolDescriptionCharsMax } from '../../../shared/constants/tool-descriptions.ts';
import { isObject, type Json, mapChanged } from '../json.ts';

/** Tools, in OpenAI's formats, whose descriptions have the length that Azure, and older models of OpenAI, accept. */
export function withShortDescriptions(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  return mapChanged(tools, (tool) => {
    if (!isObject(tool)) return tool;
    if (!isObject(tool.function)) return shortened(tool);
    const called = shortened(tool.function);
    return called === tool.function ? tool : { ...tool, function: called };
  });
}

function shortened(named: Json): Json {
  const { description } = named;
  if (typeof description !== 'string' || description.length <= toolDescriptionCharsMax) return named;
  return { ...named, description: `${description.slice(0, toolDescriptionCharsMax - 1).toWellFormed()}…` };
}
