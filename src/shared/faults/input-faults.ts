import { ApiError } from '../errors.ts';

/**
 * An error for input that is valid by its contract but not accepted; `what` continues the sentence after the field's
 * name.
 */
export function inputFault(param: string, what: string): ApiError {
  return new ApiError('invalid_request', { param, message: `\`${param}\` ${what}.` });
}

/**
 * Returns the value if every string in it is well-formed Unicode. Throws for a lone surrogate: JSON allows it, but
 * UTF-8 would store a different string.
 */
export function wellFormed<Value>(value: Value, param: string): Value {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw inputFault(param, 'is not valid Unicode');
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => void wellFormed(item, `${param}[${index}]`));
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (!name.isWellFormed()) throw inputFault(param, 'is not valid Unicode');
      wellFormed(member, `${param}.${name}`);
    }
  }
  return value;
}

/** Like `wellFormed` for each member of a body. */
export function wellFormedMembers<Body extends object>(body: Body): Body {
  for (const [name, value] of Object.entries(body)) wellFormed(value, name);
  return body;
}
