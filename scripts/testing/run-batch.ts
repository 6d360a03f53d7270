/**
 * Runs several test files one after the other in this process: `node scripts/testing/run-batch.ts <files>`. Each is a suite
 * with the file's name, so its hooks apply to its own tests alone.
 */
import { after, before, describe } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import '../../test/process-end.ts'

for (const file of process.argv.slice(2)) {
  describe(file, async () => {
    // Reporters are called in a later round of the event loop; these pauses let them see the first and the last test.
    before(() => setImmediate())
    after(() => setImmediate())
    await import(pathToFileURL(file).href)
  })
}
