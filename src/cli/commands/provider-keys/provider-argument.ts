import { Argument } from '@commander-js/extra-typings';
import { knownProviders } from '../../../shared/known-providers.ts';

export const providerArgument = () => new Argument('<provider>', 'whose key it is').choices(knownProviders);
