/** The stored tests of an endpoint, and changing one of them without losing what others changed. */

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiFailure } from '../../api/api-failure.ts'
import { queries } from '../../api/queries.ts'
import { keyed } from '../../api/query-keys.ts'
import { readTests, type StoredTest, storeTests } from '../../api/run-calls.ts'
import { REFUSALS, withChange } from './test-file.ts'

/** Somebody else may save between reading and storing; so often is tried. */
const ATTEMPTS = 3

export function useStoredTests(id: string) {
  const client = useQueryClient()
  const queryKey = queries.endpointTests(id).queryKey
  const query = useQuery({ ...keyed(queryKey, ({ signal }) => readTests(id, signal)) })
  /** `original`: null for a new test; `next`: null to delete it. Fails with an ApiFailure; nothing is changed then. */
  const save = async (original: StoredTest | null, next: StoredTest | null): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const { file, etag } = await readTests(id)
      const changed = withChange(file, original, next)
      if (typeof changed === 'string') throw new ApiFailure(REFUSALS[changed], { status: 409 })
      try {
        await storeTests(id, { file: changed, etag })
        break
      } catch (thrown) {
        if (!(thrown instanceof ApiFailure && thrown.status === 412 && attempt < ATTEMPTS)) throw thrown
      }
    }
    await client.invalidateQueries({ queryKey })
  }
  return { query, save }
}
