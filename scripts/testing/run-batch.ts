/**
 * Runs test files one after the other in this process: `node scripts/testing/run-batch.ts <files>`. Each of several is a suite
 * with the file's name, so its hooks apply to its own tests alone.
 */
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const files = process.argv.slice(2).map((file) => ({ file, load: () => import(pathToFileURL(file).href) }))

if (files.length === 1) await files[0]?.load()
else {
  const { after, before, describe } = await import('node:test')
  await import('../../test/support/process-end.ts')
  for (const { file, load } of files) {
    describe(file, async () => {
      // Reporters are called in a later round of the event loop; these pauses let them see the first and the last test.
      before(() => setImmediate())
      after(() => setImmediate())
      await load()
    })
  }
}
