/** Documents that people run, in two forms: imported, registered at a service, and imported again without a change. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import type { JsonObject } from '../../../src/core/json.ts'
import { documentFiles, folderWith, importAs, jsonAt, readReport } from '../../support/migrate/import-rig.ts'
import { type StoredEndpoint, startService } from '../../support/service.ts'
import { unreported } from '../../unit/migrate/conversion-rig.ts'

const FOLDER = new URL('../../../../shared/real-documents', import.meta.url).pathname

// The folder is not part of the repository: without it there is nothing to read, which is no failure of a check.
const isThere = existsSync(FOLDER)
if (!isThere) {
  test('documents that people run', (context) =>
    context.diagnostic('Not run: there is no folder ../shared/real-documents'))
}

describe('documents that people run', () => {
  for (const form of isThere ? ['as-written', 'as-stored'] : []) {
    test(`${form}: all are registered, and none is changed without a report`, async (context) => {
      const service = await startService()
      context.after(() => service.stop())
      const output = join(folderWith({}, context), 'out')
      const { code, stdout, stderr } = await importAs([join(FOLDER, form)], { output, apply: service.url })
      assert.equal(code, 0, stdout + stderr)
      const count = globSync('**/*.json', { cwd: join(FOLDER, form) }).length
      assert.match(stdout, new RegExp(`${count} created, 0 replaced, 0 there already`))
      const stored = (await service.fetch('/endpoints')).json<readonly StoredEndpoint[]>()
      assert.equal(stored.length, count)

      const { documents, counts } = readReport(output)
      assert.deepEqual([counts.lost, counts.faults], [0, 0])
      for (const { source, file, changes } of documents) {
        const original = JSON.parse(readFileSync(source, 'utf8')) as JsonObject
        assert.deepEqual(unreported(original, jsonAt(output, file), changes), [], file)
      }
      const again = join(folderWith({}, context), 'out')
      assert.equal((await importAs([output], { output: again })).code, 0)
      const { carried, changed, differs, lost } = readReport(again).counts
      assert.deepEqual([carried, changed, differs, lost], [0, 0, 0, 0])
      const textsOf = (folder: string) =>
        documentFiles(folder)
          .map((file) => JSON.stringify(jsonAt(folder, file)))
          .sort()
      const written = textsOf(output)
      assert.deepEqual(textsOf(again), written)
      for (const value of Object.values(parseEnv(readFileSync(join(output, '.env.import'), 'utf8')))) {
        assert.ok(!written.join().includes(String(value)))
      }
    })
  }
})
