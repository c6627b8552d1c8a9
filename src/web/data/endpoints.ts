export * from '../../shared/endpoints.ts';
