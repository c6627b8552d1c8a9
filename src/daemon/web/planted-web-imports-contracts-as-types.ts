import '../../shared/contract/traces.ts';
