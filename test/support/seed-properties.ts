import fc from 'fast-check';

/** Every run draws the same cases; `FUZZ_SEED` draws others. */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_260_401) });
