/** Runs the tests of a document: the same compiler, intake and canned answers as a dry run, with time and chance fixed. */

import { setImmediate } from 'node:timers/promises'
import type { NewDelivery } from '../../core/deliveries/delivery.ts'
import { NO_ID } from '../../core/id.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { isError, type Lint } from '../../core/lint.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { TableLookup } from '../../core/tables/table-reads.ts'
import type { ActiveTable, TableSet } from '../../core/tables/table-set.ts'
import { type CallSpan, roundMs } from '../../core/tracing/trace.ts'
import type { DocumentBounds } from '../../document/checks/document-bounds.ts'
import { type CompiledEndpoint, compileDocument } from '../../endpoints/compiled-endpoint.ts'
import { Intake } from '../../inbound/intake.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'
import type { StateRecord } from '../../store/sql/states.ts'
import { readTableValue } from '../../tables/table-thread.ts'
import { refuseRun, toIncoming } from '../dry-run/dry-run.ts'
import { measureMessageCoverage, percentCovered } from '../dry-run/dry-run-report.ts'
import { createStageRecording, type StageRecording } from '../dry-run/stage-report.ts'
import { createGivenServices, type GivenServices } from './given-services.ts'
import { judge, missingAnswers, shownMismatch, unreadTables, unusedAnswers } from './judge-step.ts'
import { createMatcher, TooManyComparisons } from './match.ts'
import { observe, toSnapshot } from './observed.ts'
import {
  DEFAULT_NOW,
  type DocumentTest,
  type Mismatch,
  type ShownLint,
  type Snapshots,
  type TestFile,
  type TestReport,
  type TestResult,
  type TestStep,
} from './test-file.ts'

export type RunTestsOptions = Readonly<{
  /** The snapshots that `expect.snapshot` compares with; a test without one fails. */
  snapshots?: Snapshots
  /** Called with what the message of a step did, if its test expects a snapshot; `step` counts from 0. */
  onSnapshot?: (test: DocumentTest, step: number, snapshot: JsonObject) => void
  /** Whether the report has the coverage: each message then runs with its course observed. */
  coverage?: boolean
  /** Milliseconds for all tests; those that have not started by then fail. */
  limitMs?: number
  /** In place of those of the runner with the same names. */
  tables?: TableSet
  /** Called with what the message of each step looked up in tables, and these. */
  onLookups?: (lookups: Iterable<TableLookup>, tables: TableSet) => void
  /** The limits that hold for a document when it is registered, if it is to be checked as if it were. */
  bounds?: DocumentBounds
}>

/**
 * In: a document as JSON, and its tests, which `checkTestFile` found without errors. Out: the report. Never calls another
 * system, reads a secret or writes a state; two runs at once do not disturb each other.
 *
 * Fails as compileDocument does; never for a fault of the document or of a test.
 */
export type RunTests = (document: Json, file: TestFile, options?: RunTestsOptions) => Promise<TestReport>

/** `services`: the sandbox and the egress policy of them are used; `bounds`: of each document, unless a run has its own. */
type TestRunnerOptions = Readonly<{
  services: Services
  settings: PipelineSettings
  /** Which messages read, unless a test gives its own. */
  tables: Readonly<{ current: TableSet }>
  logger: Logger
  bounds?: DocumentBounds
}>

const MAX_MISMATCHES = 50
const STAMP = { _id: NO_ID, createdAt: DEFAULT_NOW, updatedAt: DEFAULT_NOW, version: 1 }

export function createTestRunner({ services, settings, tables, logger, bounds }: TestRunnerOptions): RunTests {
  return async (document, file, options = {}) => {
    const startMs = performance.now()
    const given = createGivenServices(services, settings)
    const recording = options.coverage === true ? createStageRecording() : undefined
    const observed = { ...given.services, observer: recording }
    const { lints, compiled } = await compileDocument(document, STAMP, observed, settings, {
      bounds: options.bounds ?? bounds,
    })
    const made: Made = { calls: [], deliveries: [], rows: new Map() }
    const ran = !lints.some(isError)
    const isLate = () => options.limitMs !== undefined && performance.now() - startMs > options.limitMs
    const current = new Map([...tables.current, ...(options.tables ?? [])])
    const runner: Runner = {
      compiled,
      given,
      settings,
      tables: current,
      logger,
      ignore: file.ignore,
      options,
      made,
      isLate,
    }
    const results: TestResult[] = []
    for (const test of ran ? file.tests : []) {
      results.push(await runTest(test, runner))
    }
    const count = (verdict: TestResult['verdict']) => results.filter((one) => one.verdict === verdict).length
    return {
      ran,
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('skipped'),
      ms: msSince(startMs),
      tests: results,
      ...(recording === undefined || !ran ? {} : { coverage: measureCoverage(compiled, recording, made) }),
      lint: { errors: shown(lints, 'error'), warnings: shown(lints, 'warning') },
    }
  }
}

/** `rows`: the keys of those that were used, and of those that tests give, by table. */
type Made = Readonly<{
  calls: CallSpan[]
  deliveries: NewDelivery[]
  rows: Map<string, { size: number; given: Set<string>; keys: Set<string> }>
}>

type Runner = Readonly<{
  compiled: CompiledEndpoint
  given: GivenServices
  settings: PipelineSettings
  tables: TableSet
  logger: Logger
  ignore: readonly string[]
  options: RunTestsOptions
  /** Of all tests. */
  made: Made
  isLate(): boolean
}>

async function runTest(test: DocumentTest, runner: Runner): Promise<TestResult> {
  const { name, skip, steps, hasSteps } = test
  if (skip !== undefined) return { name, verdict: 'skipped', ms: 0, mismatches: [], reason: skip }
  const startMs = performance.now()
  const states: StateRecord[] = []
  const mismatches: Mismatch[] = []
  let left = 0
  for (const [index, step] of steps.entries()) {
    // Steps without a call run synchronously; others wait for the event loop too.
    await setImmediate()
    if (runner.isLate()) {
      mismatches.push(index === 0 ? NOT_STARTED : { path: `/steps/${index}`, message: NO_TIME })
      break
    }
    const found = await runStep(test, step, index, states, runner)
    const base = hasSteps ? `/steps/${index}` : ''
    const room = MAX_MISMATCHES - mismatches.length
    for (const one of found.slice(0, room)) {
      mismatches.push(shownMismatch({ ...one, path: `${base}${one.path}` }))
      // Each may hold values as large as the message.
      await setImmediate()
    }
    left += Math.max(0, found.length - room)
  }
  const more = left === 0 ? [] : [{ path: '', message: `There are ${left} more mismatches.` }]
  return {
    name,
    verdict: mismatches.length === 0 ? 'passed' : 'failed',
    ms: msSince(startMs),
    mismatches: [...mismatches, ...more],
  }
}

async function runStep(
  test: DocumentTest,
  step: TestStep,
  index: number,
  states: StateRecord[],
  { compiled, given, settings, tables, logger, ignore, options, made }: Runner,
): Promise<readonly Mismatch[]> {
  const refusal = refuseRun(step.given.message, compiled.endpoint)
  if (refusal !== undefined) return [{ path: '/given/message/timestamps', message: refusal }]
  const own = await readGivenTables(step.given.tables)
  if (!(own instanceof Map)) return own
  const current: TableSet = new Map([...tables, ...own])
  const running = given.start({ given: step.given, seed: `${test.name}\n${index}`, states })
  const intake = intakeAt(step.given.nowMs, settings, current, logger)
  const completed = await intake.runDry(compiled, toIncoming(step.given, compiled, step.given.nowMs), running.trace)
  const { calls, deliveries = [], tableReads } = running.trace
  const lookups = [...(tableReads?.lookups?.values() ?? [])]
  options.onLookups?.(lookups, current)
  if (options.coverage === true) {
    made.calls.push(...calls)
    made.deliveries.push(...deliveries)
    countRows(made, lookups, tables, own)
  }
  const observed = observe(completed, running)
  const missing = missingAnswers(running)
  if (missing.length > 0) return missing
  const { snapshot, todo } = step.expect
  if (todo === true) return [unwritten(toSnapshot(observed))]
  const mismatches = [
    ...judge(step, observed, running.trace.secrets, ignore),
    ...unusedAnswers(step, running, compiled.endpoint),
    ...unreadTables(step, running, compiled),
  ]
  if (snapshot === true) {
    const taken = withoutIgnored(toSnapshot(observed), ignore)
    options.onSnapshot?.(test, index, taken)
    mismatches.push(...snapshotMismatches(snapshotFor(options.snapshots, test, index), taken))
  }
  return mismatches.length > 0 && observed.failure !== undefined && step.expect.failure === undefined
    ? [failed(observed.failure), ...mismatches]
    : mismatches
}

/** Of a table that the runner has, only its own rows count; of another one, those of all tests that give it. */
function countRows({ rows }: Made, lookups: readonly TableLookup[], tables: TableSet, own: TableSet): void {
  for (const [name, looked] of Map.groupBy(lookups, ({ table }) => table)) {
    const { table } = tables.get(name) ?? {}
    const given = own.get(name)?.table
    if (table !== undefined && given !== undefined) continue
    const one = rows.get(name) ?? { size: table?.size ?? 0, given: new Set(), keys: new Set() }
    rows.set(name, one)
    for (let row = 0; row < (given?.size ?? 0); row += 1) one.given.add(given?.cell(row, 0) ?? '')
    for (const { code, row } of looked) if (row !== undefined) one.keys.add(code)
  }
}

function measureCoverage({ endpoint }: CompiledEndpoint, recording: StageRecording, made: Made) {
  const coverage = measureMessageCoverage(endpoint, recording, made)
  const tables = [...made.rows].map(([table, { size, given, keys }]) => ({
    table,
    rows: size + given.size,
    used: keys.size,
  }))
  return { ...coverage, percent: percentCovered(coverage), tables }
}

/** The tables of a step, or what is wrong with them. */
async function readGivenTables(
  given: TestStep['given']['tables'],
): Promise<Map<string, ActiveTable> | readonly Mismatch[]> {
  const tables = new Map<string, ActiveTable>()
  const wrong: Mismatch[] = []
  for (const [name, value] of Object.entries(given)) {
    const reading = await readTableValue(value)
    if (reading.ok) tables.set(name, { name, version: 1, table: reading.table })
    else
      for (const { path, message } of reading.faults)
        wrong.push({ path: `/given/tables/${name}`, message: path === '' ? message : `${path}: ${message}` })
  }
  return wrong.length > 0 ? wrong : tables
}

/** One message at a time runs in it, and its clock stands still. */
export const intakeAt = (nowMs: number, settings: PipelineSettings, current: TableSet, logger: Logger): Intake =>
  new Intake({
    ...settings,
    tables: { current },
    maxMessagesInFlight: 1,
    messageWaitMs: 0,
    clock: () => nowMs,
    newId: () => NO_ID,
    logger,
    logMessages: 'none',
    observe: () => undefined,
  })

/** A test that expects something else of a message that failed is rarely clear without the reason. */
const failed = (failure: JsonObject): Mismatch => ({
  path: '/expect/failure',
  actual: failure,
  message: `The message failed: ${failure.error}`,
})

const unwritten = (snapshot: JsonObject): Mismatch => ({
  path: '/expect/todo',
  actual: snapshot,
  message: 'What is expected is still to be written: replace "todo" by it.',
})

const NOT_STARTED: Mismatch = {
  path: '',
  message: 'The test did not run: the tests before it took all the time that tests may take.',
}
const NO_TIME = 'The step did not run: what ran before it took all the time that tests may take.'

const shown = (lints: readonly Lint[], severity: Lint['severity']): readonly ShownLint[] =>
  lints.filter((lint) => lint.severity === severity).map(({ path, message }) => ({ path, message }))

const msSince = (startMs: number): number => roundMs(performance.now() - startMs)

// Snapshots: what messages of tests did when their author last accepted it.

/** The snapshot of a step; undefined if there is none. */
export function snapshotFor(
  snapshots: Snapshots | undefined,
  test: DocumentTest,
  step: number,
): JsonObject | undefined {
  const stored = snapshots !== undefined && Object.hasOwn(snapshots, test.name) ? snapshots[test.name] : undefined
  const one = test.hasSteps && Array.isArray(stored) ? stored[step] : stored
  return isObject(one) ? one : undefined
}

/** The snapshots with one more, or another one, of a step. */
export function withSnapshot(snapshots: Snapshots, test: DocumentTest, step: number, snapshot: JsonObject): Snapshots {
  if (!test.hasSteps) return { ...snapshots, [test.name]: snapshot }
  const before = Object.hasOwn(snapshots, test.name) ? snapshots[test.name] : undefined
  const steps = test.steps.map((_step, index) => {
    if (index === step) return snapshot
    return Array.isArray(before) ? (before[index] ?? null) : null
  })
  return { ...snapshots, [test.name]: steps }
}

export function snapshotMismatches(stored: JsonObject | undefined, taken: JsonObject): readonly Mismatch[] {
  if (stored === undefined) {
    return [{ path: '/expect/snapshot', message: 'The test has no snapshot yet; crosswalk test writes it.' }]
  }
  try {
    return createMatcher().mismatches({ $literal: stored }, taken, { pointer: '/expect/snapshot' })
  } catch (thrown) {
    if (!(thrown instanceof TooManyComparisons)) throw thrown
    return [{ path: thrown.pointer, message: thrown.message }]
  }
}

/** The snapshot without the ignored places of the body of its answer. */
function withoutIgnored(snapshot: JsonObject, ignore: readonly string[]): JsonObject {
  const { answer } = snapshot
  if (!isObject(answer) || answer.body === undefined) return snapshot
  const body = ignore.reduce<Json | undefined>(
    (left, pointer) => (left === undefined ? left : without(left, pointer.split('/').slice(1).map(unescaped))),
    answer.body,
  )
  const { body: _body, ...others } = answer
  return { ...snapshot, answer: body === undefined ? others : { ...others, body } }
}

/** An item of an array becomes null, so that the others keep their places. */
function without(value: Json, [name, ...rest]: readonly string[]): Json | undefined {
  if (name === undefined) return undefined
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value
  const inner = without((value as JsonObject)[name] as Json, rest)
  if (Array.isArray(value)) return value.map((item: Json, index) => (String(index) === name ? (inner ?? null) : item))
  const { [name]: _inner, ...others } = value as JsonObject
  return inner === undefined ? others : { ...(value as JsonObject), [name]: inner }
}

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')
