/** The tests that the service keeps for each endpoint: `/endpoints/{id}/tests`. */
import { Failure } from '../../../core/failure.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Lint } from '../../../core/lint.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import * as failures from '../../../endpoints/management-failures.ts'
import { parseDocument } from '../../../endpoints/parse-document.ts'
import { etagOf, matchesEtag } from '../../../endpoints/precondition.ts'
import { retryOnConflict } from '../../../endpoints/store-queue.ts'
import type { EntryOf } from '../../../store/sql/audit-store.ts'
import type { EndpointTestStore } from '../../../store/sql/endpoint-store.ts'
import { checkTestFile } from '../check-test-file.ts'

/** `file`: as it was sent. */
export type SavedTests = Readonly<{ file: JsonObject; warnings: readonly Lint[] }>

/**
 * An endpoint without tests has the file `{ "tests": [] }`. `ifMatch` is the If-Match header; undefined if there is none.
 * `entryOf`: for the entry of a change in the audit log.
 * Each call fails with ID_MALFORMED, ENDPOINT_UNKNOWN and STORE_UNAVAILABLE.
 */
export interface StoredTests {
  /** The ids of the endpoints that have tests. Fails with STORE_UNAVAILABLE only. */
  endpoints(): Promise<ReadonlySet<string>>
  get(endpointId: string): Promise<JsonObject>
  /** In: a file of tests as JSON text. Also fails with BODY_UNREADABLE, BODY_TOO_DEEP, TESTS_INVALID, PRECONDITION_FAILED. */
  replace(endpointId: string, text: string, ifMatch: string | undefined, entryOf?: EntryOf): Promise<SavedTests>
  /** Also fails with PRECONDITION_FAILED. */
  remove(endpointId: string, ifMatch: string | undefined, entryOf?: EntryOf): Promise<void>
}

export type StoredTestsOptions = Readonly<{
  store: EndpointTestStore
  endpointService: Pick<EndpointService, 'get'>
}>

const NO_TESTS: JsonObject = { tests: [] }

export function createStoredTests({ store, endpointService }: StoredTestsOptions): StoredTests {
  const write = async (
    endpointId: string,
    file: JsonObject | undefined,
    ifMatch: string | undefined,
    entryOf: EntryOf | undefined,
  ) => {
    await endpointService.get(endpointId)
    await failures.callEndpointStore(() =>
      retryOnConflict(ifMatch, async () => {
        const stored = await store.get(endpointId)
        if (ifMatch !== undefined && !matchesEtag(ifMatch, etagOf(fileOf(stored)))) throw stale()
        const entry = entryOf?.({ target: endpointId })
        const result = await store.write(endpointId, file && JSON.stringify(file), stored, entry)
        if (result === 'gone') throw failures.unknown(endpointId)
        if (result === 'stale') throw stale()
      }),
    )
  }
  return {
    endpoints: () => failures.callEndpointStore(() => store.endpoints()),
    get: async (endpointId) => {
      const stored = await failures.callEndpointStore(() => store.get(endpointId))
      // Tests are deleted with their endpoint: only without them it may be unknown.
      if (stored === undefined) await endpointService.get(endpointId)
      return fileOf(stored)
    },
    replace: async (endpointId, text, ifMatch, entryOf) => {
      const { raw, faults } = parseDocument(text)
      const { lints } = checkTestFile(raw)
      const errors = [...faults, ...lints.filter(({ severity }) => severity === 'error')]
      if (errors.length > 0) throw failures.testsInvalid(errors)
      const file = raw as JsonObject
      await write(endpointId, file, ifMatch, entryOf)
      return { file, warnings: lints }
    },
    remove: (endpointId, ifMatch, entryOf) => write(endpointId, undefined, ifMatch, entryOf),
  }
}

const fileOf = (stored: string | undefined): JsonObject => (stored === undefined ? NO_TESTS : JSON.parse(stored))

const stale = (): Failure =>
  new Failure(
    'PRECONDITION_FAILED',
    'The tests have changed since they were read; read them again and repeat the change.',
  )
