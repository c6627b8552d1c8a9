import type { ValidateFunction } from 'ajv';

/**
 * Validators of bodies, by endpoint id. None in the sources, which compile a validator on its first use; a build has those
 * that `bundle.js` compiles, because they would be a sixth of the start and delay the first call.
 */
export const compiledBodies: Readonly<Record<string, ValidateFunction>> = {};
