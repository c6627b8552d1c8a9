import { toolDescriptionCharsMax } from '../../../shared/constants/tool-descriptions.ts';
import { isObject, type Json, mapChanged } from '../json.ts';

/** Tools in OpenAI's formats with a change of what names their functions: the `function` of a tool, or the tool itself. */
export function withFunctions(tools: unknown, change: (named: Json) => Json): unknown {
  if (!Array.isArray(tools)) return tools;
  return mapChanged(tools, (tool) => {
    if (!isObject(tool)) return tool;
    if (!isObject(tool.function)) return change(tool);
    const called = change(tool.function);
    return called === tool.function ? tool : { ...tool, function: called };
  });
}

/** Tools of any format that are not marked as strict, at either place. */
export function withoutStrict(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  const unmarked = ({ strict: _strict, ...rest }: Json): Json => rest;
  return withFunctions(
    tools.map((tool) => (isObject(tool) ? unmarked(tool) : tool)),
    unmarked,
  );
}

/** Tools whose descriptions have the length that Azure, and older models of OpenAI, accept. */
export function withShortDescriptions(tools: unknown): unknown {
  return withFunctions(tools, (named) => {
    const { description } = named;
    if (typeof description !== 'string' || description.length <= toolDescriptionCharsMax) return named;
    return {
      ...named,
      description: `${description.slice(0, toolDescriptionCharsMax - 1).toWellFormed()}…`,
    };
  });
}
