/**
 * Runs several test files one after the other in this process: `node scripts/testing/run-batch.ts <files>`. Each is a suite
 * with the file's name, so its hooks hold for its own tests alone.
 */
import { after, before, describe } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

for (const file of process.argv.slice(2)) {
  describe(file, async () => {
    // Reporters hear of tests in a later round of the loop: of what comes first and last even where the process ends.
    before(() => setImmediate())
    after(() => setImmediate())
    await import(pathToFileURL(file).href)
  })
}
