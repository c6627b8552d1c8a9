import type {} from '../tokens/store.ts';
