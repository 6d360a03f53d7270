/**
 * fast-check with the seed of the run, also for a file that runs alone: the same in each `npm test`, drawn by scripts/test.ts for
 * the long forms. Tests import it from here alone (biome.json).
 */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 17) })

export { type Arbitrary, default } from 'fast-check'
