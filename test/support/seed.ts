/** All property tests of this process start from the seed of the run, which scripts/test.ts sets. */
import fc from 'fast-check'

const { TEST_SEED } = process.env

if (TEST_SEED !== undefined) fc.configureGlobal({ seed: Number(TEST_SEED) })
