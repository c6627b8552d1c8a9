import { isObject, type Json, mapChanged } from '../json.ts';

/** As long as the description of a tool is where it is limited. */
const descriptionCharsMax = 1024;

/** Tools, in OpenAI's formats, whose descriptions have the length that Azure, and older models of OpenAI, accept. */
export function withShortDescriptions(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  return mapChanged(tools, (tool) => {
    if (!isObject(tool)) return tool;
    if (isObject(tool.function)) {
      const called = shortened(tool.function);
      return called === tool.function ? tool : { ...tool, function: called };
    }
    return shortened(tool);
  });
}

function shortened(named: Json): Json {
  const { description } = named;
  if (typeof description !== 'string' || description.length <= descriptionCharsMax) return named;
  return { ...named, description: `${description.slice(0, descriptionCharsMax - 1).toWellFormed()}…` };
}
