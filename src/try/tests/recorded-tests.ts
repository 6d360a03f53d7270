/** `POST /messages/{id}/test`: a test of an endpoint, made from a recorded message. */

import { Failure } from '../../core/failure.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { documentPath, isError } from '../../core/lint.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { TableLookup } from '../../core/tables/table-reads.ts'
import type { ActiveTable, TableSet } from '../../core/tables/table-set.ts'
import { checkDocument } from '../../document/checks/check-document.ts'
import type { DryRunRequest } from '../../document/checks/dry-run-request.ts'
import type { EndpointService } from '../../endpoints/endpoint-service.ts'
import * as failures from '../../endpoints/management-failures.ts'
import type { TableService } from '../../endpoints/table-service.ts'
import { callMessageLog } from '../../records/message-log/message-search.ts'
import { secretHeaderNames } from '../../records/message-log/redaction.ts'
import {
  type NotReproduced,
  notReproduced,
  type RecordedMessages,
  readRecordedMessage,
} from '../dry-run/recorded-message.ts'
import { checkTestFile } from './check-test-file.ts'
import { expectationFromRecord } from './expectation-of-record.ts'
import { present, testInputFromLogEntry } from './given-of-record.ts'
import { pseudonymise } from './pseudonyms.ts'
import type { RunTests } from './run-tests.ts'
import type { TestFile, TestResult } from './test-file.ts'

type RecordedTest = Readonly<{
  /** Of the endpoint that processed the message. */
  endpointId: string
  /** As the author of a file of tests would write it. */
  test: JsonObject
  /** What the test does not have as the message had it, and where a run of it does something else than the message did. */
  notReproduced: readonly NotReproduced[]
  /** Of the test with the document that is active now; left out if the endpoint is deleted. */
  result?: TestResult
}>

/** `name`: of the test; by default the id of the message. */
type RecordedTestRequest = Readonly<{ name?: string; pseudonymise?: boolean }>

/**
 * Fails with ID_MALFORMED, MESSAGE_UNKNOWN, MESSAGE_BODY_UNKNOWN if its request was not kept, ENDPOINT_UNKNOWN, TESTS_INVALID,
 * STORE_UNAVAILABLE.
 */
export type MakeRecordedTest = (messageId: string, request: RecordedTestRequest) => Promise<RecordedTest>

/** The documents of endpoints, with earlier versions. */
export type RecordedEndpoints = Pick<EndpointService, 'get' | 'versions'>

type RecordedTestsOptions = Readonly<{
  recorded: RecordedMessages
  endpointService: RecordedEndpoints
  tables: Pick<TableService, 'version'>
  runTests: RunTests
  settings: Readonly<{ redactHeaders: readonly string[] }>
  /** Random bytes: of the pseudonyms of one test. */
  random: (count: number) => Uint8Array
}>

const KEY_BYTES = 32

/** No recorded part is replaced. */
const ALL_RECORDED: DryRunRequest = { message: {}, lookups: {}, responses: {}, live: false }

export function createRecordedTests(options: RecordedTestsOptions): MakeRecordedTest {
  const { recorded, endpointService, tables, runTests, settings, random } = options
  const secretHeaders = secretHeaderNames(settings.redactHeaders)

  /** What the message of the test does, undefined if it asks for an answer that is not given; and the rows that it finds. */
  const runOnce = async (document: JsonObject, name: string, given: JsonObject, of?: TableSet) => {
    let snapshot: JsonObject | undefined
    let used: JsonObject = {}
    const file = soundFile({ name, given, expect: { snapshot: true } })
    await runTests(document, file, {
      ...(of && { tables: of }),
      onLookups: (lookups, all) => {
        used = rowsUsed(lookups, all)
      },
      onSnapshot: (_test, _step, taken) => {
        snapshot = taken
      },
    })
    return { snapshot, used }
  }

  return async (messageId, request) => {
    const message = await readRecordedMessage(messageId, recorded)
    const { record } = message
    const { endpointId, endpointVersion } = record
    if (endpointId === undefined) throw new Failure('ENDPOINT_UNKNOWN', 'No endpoint took this message.')
    const { document, isOther } = await readRecordedDocument(endpointId, record, endpointService)
    const name = request.name ?? `message ${messageId}`
    const input = testInputFromLogEntry(message, document)
    const then = await readTables(record, tables)
    const { snapshot, used } = await runOnce(document, name, input.given, then.tables)
    const losses = [...input.losses, ...then.losses]
    const given = { ...input.given, ...present('tables', used) }
    const answer = record.bodies.some(({ which }) => which === 'answer')
      ? await callMessageLog(() => recorded.store.body(messageId, 'answer'))
      : undefined
    const written = { given, ...expectationFromRecord({ record, answer, snapshot, document }) }
    const part = request.pseudonymise
      ? await pseudonymise(
          written,
          snapshot,
          document,
          async (other) => (await runOnce(document, name, other)).snapshot,
          random(KEY_BYTES),
        )
      : written
    const source = { messageId, ...(endpointVersion === undefined ? {} : { endpointVersion }) }
    const test = { name, source, given: part.given, expect: part.expect }
    const file = soundFile(test)
    const active = await readActiveDocument(endpointId, endpointService)
    const result = active === undefined ? undefined : (await runTests(active, file)).tests[0]
    const isChanged = result?.verdict === 'failed' && JSON.stringify(active) !== JSON.stringify(document)
    const { endpoint } = checkDocument(document)
    return {
      endpointId,
      test,
      notReproduced: [
        ...[...notReproduced(ALL_RECORDED, message, endpoint, secretHeaders), ...losses].map(inGiven),
        ...part.losses,
        ...(isOther ? [GONE_VERSION] : []),
        ...(isChanged ? [CHANGED_SINCE] : []),
      ],
      ...(result === undefined ? {} : { result }),
    }
  }
}

/** A message may be too large for a test. */
function soundFile(test: JsonObject): TestFile {
  const { file, lints } = checkTestFile({ tests: [test] })
  const errors = lints.filter(isError)
  if (errors.length > 0) throw failures.testsInvalid(errors)
  return file
}

const GONE_VERSION: NotReproduced = {
  path: 'source.endpointVersion',
  reason: 'This version is no longer stored; the test was made with the active document.',
}

const CHANGED_SINCE: NotReproduced = {
  path: 'source.endpointVersion',
  reason: 'The endpoint has changed since: the test expects what this version did.',
}

const inGiven = ({ path, reason }: NotReproduced): NotReproduced => ({
  path: path === 'message.state' ? 'given.state' : `given.${path}`,
  reason,
})

/** The document that processed the message, or the active one if that is no longer stored. */
export async function readRecordedDocument(
  endpointId: string,
  { endpointVersion }: MessageRecord,
  endpoints: RecordedEndpoints,
): Promise<Readonly<{ document: JsonObject; isOther: boolean }>> {
  try {
    const { document } = await endpoints.versions.get(endpointId, endpointVersion ?? 0)
    if (document !== null) return { document, isOther: false }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.status !== 404) throw thrown
  }
  return { document: await endpoints.get(endpointId), isOther: true }
}

/** Those that the message read, in the versions that it read. */
async function readTables(
  { tables: read = {} }: MessageRecord,
  tables: RecordedTestsOptions['tables'],
): Promise<Readonly<{ tables: TableSet; losses: readonly NotReproduced[] }>> {
  const found = new Map<string, ActiveTable>()
  const losses: NotReproduced[] = []
  for (const [name, version] of Object.entries(read)) {
    try {
      found.set(name, await tables.version(name, version))
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 404) throw thrown
      const reason = `Version ${version} of this table is no longer stored; the test has rows of the active one.`
      losses.push({ path: documentPath('tables', name), reason })
    }
  }
  return { tables: found, losses }
}

/** The rows that lookups found, by table, as a test gives them. */
function rowsUsed(lookups: Iterable<TableLookup>, tables: TableSet): JsonObject {
  const used = new Map<string, Map<string, TableLookup['row']>>()
  for (const { table, code, row } of lookups) {
    const rows = used.get(table) ?? new Map<string, TableLookup['row']>()
    used.set(table, rows)
    if (row !== undefined) rows.set(code, row)
  }
  return Object.fromEntries(
    [...used].map(([name, rows]) => {
      const columns = tables.get(name)?.table.columns ?? []
      return [name, { columns, rows: Array.from(rows.values(), (row) => columns.map((column) => row?.[column] ?? '')) }]
    }),
  )
}

async function readActiveDocument(
  endpointId: string,
  endpoints: Pick<EndpointService, 'get'>,
): Promise<Json | undefined> {
  try {
    return await endpoints.get(endpointId)
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 404) return undefined
    throw thrown
  }
}
