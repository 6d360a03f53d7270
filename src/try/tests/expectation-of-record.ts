/**
 * What a recorded message did, as the `expect` of a test. A record has no bodies and queries of calls: these are taken from
 * a run of the document with what was recorded, if this run did otherwise the same.
 */
import { NO_ID } from '../../core/id.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import type { MessageRecord, RecordedBody, RecordedCall } from '../../core/records/message-record.ts'
import { MASK, REDACTED } from '../../core/secrets/secrets.ts'
import type { FormatOptions } from '../../formats/codecs.ts'
import { shownTargetText, showTarget } from '../../outbound/targets.ts'
import type { NotReproduced } from '../dry-run/recorded-message.ts'
import { withAnyQuery } from './given-of-record.ts'
import { readBody } from './observed.ts'

type RecordedResult = Readonly<{
  record: MessageRecord
  /** Undefined if the answer was empty, or was not kept. */
  answer: RecordedBody | undefined
  /** What a run of the test did (`toSnapshot`); undefined if it asked for an answer that was not recorded. */
  snapshot: JsonObject | undefined
  /** The document that ran. */
  document: Json
}>

export type WrittenExpectation = Readonly<{
  expect: JsonObject
  /** Where the run did something else than the record says, or the record does not say it. */
  losses: readonly NotReproduced[]
}>

export function expectationFromRecord(result: RecordedResult): WrittenExpectation {
  const { record, answer, snapshot, document } = result
  if (record.outcome === 'failed') return { expect: { todo: true }, losses: [] }
  const reconciler = createReconciler(result)
  const ran = isObject(snapshot?.answer) ? snapshot.answer : undefined
  const body = expectedBody(answer, ran, isObject(document) ? document : undefined, reconciler)
  const expect = {
    outcome: reconciler.same(record.outcome, snapshot?.outcome, 'outcome'),
    answer: {
      status: reconciler.same(record.status, ran?.status, 'answer.status'),
      ...(body === undefined ? {} : { body }),
    },
    ...expectedFailure(result, reconciler),
    ...expectedCalls(record, snapshot, reconciler),
    ...expectedDeliveries(record, snapshot, reconciler),
  }
  return { expect, losses: reconciler.losses }
}

/** What a run did, as the `expect` of a test. In: `toSnapshot`; undefined if there is none. */
export function expectationFromRun(snapshot: JsonObject | undefined): JsonObject {
  if (snapshot === undefined) return { todo: true }
  const { outcome, answer, failure } = snapshot
  const { status, body } = isObject(answer) ? answer : {}
  const { code, stage, path } = isObject(failure) ? failure : {}
  return {
    ...(outcome === undefined ? {} : { outcome }),
    answer: { ...(status === undefined ? {} : { status }), ...(body === undefined ? {} : { body: literal(body) }) },
    ...(code === undefined
      ? {}
      : { failure: { code, ...(stage === undefined ? {} : { stage }), ...(path === undefined ? {} : { path }) } }),
    calls: madeIn(snapshot, 'calls').map(withoutHeaders),
    ...deliveriesOfRun(snapshot),
  }
}

const madeIn = (snapshot: JsonObject, name: 'calls' | 'deliveries'): readonly JsonObject[] =>
  [snapshot[name] ?? []].flat().filter(isObject)

function deliveriesOfRun(snapshot: JsonObject): JsonObject {
  const ran = madeIn(snapshot, 'deliveries')
  return ran.length === 0 ? {} : { deliveries: ran.map(withoutHeaders) }
}

function expectedBody(
  answer: RecordedBody | undefined,
  ran: JsonObject | undefined,
  documented: FormatOptions | undefined,
  reconciler: Reconciler,
): Json | undefined {
  if (answer === undefined) return undefined
  const { cut, contentType } = answer.summary
  if (cut) {
    reconciler.lose('answer.body', 'Only the start of the answer was recorded; the test expects what a run answered.')
    return ran?.body
  }
  const recorded = readBody(answer.content, contentType === '' ? undefined : contentType, documented).value
  if (recorded === undefined) return undefined
  return ran === undefined ? literal(recorded) : literal(reconciler.value(recorded, ran.body, 'answer.body'))
}

/** Values of messages are no operators, whatever their names are. */
export const literal = (value: Json): Json => (holdsOperator(value) ? { $literal: value } : value)

function holdsOperator(value: Json): boolean {
  if (Array.isArray(value)) return value.some(holdsOperator)
  if (!isObject(value)) return false
  const names = Object.keys(value)
  if (names.length === 1 && names[0]?.startsWith('$')) return true
  return Object.values(value).some(holdsOperator)
}

function expectedFailure({ record, snapshot }: RecordedResult, reconciler: Reconciler): JsonObject {
  const { code, stage, path } = record
  if (code === undefined) return {}
  const ran = isObject(snapshot?.failure) ? snapshot.failure : undefined
  if (snapshot !== undefined && ran === undefined) return {}
  const parts = Object.entries({ code, stage, path }).filter(([, value]) => value !== undefined)
  return {
    failure: Object.fromEntries(
      parts.map(([name, value]) => [name, reconciler.same(String(value), ran?.[name], `failure.${name}`)]),
    ),
  }
}

/** Faults of calls that reached no target. */
const NOT_SENT: ReadonlySet<string> = new Set(['denied', 'circuit-open', 'no-auth'])

function expectedCalls(record: MessageRecord, snapshot: JsonObject | undefined, reconciler: Reconciler): JsonObject {
  if (record.callsOmitted !== undefined) {
    reconciler.lose('calls', `${record.callsOmitted} calls are left out of the record; the test expects none of all.`)
    return {}
  }
  const sent = record.calls.filter(({ fault }) => fault === undefined || !NOT_SENT.has(fault))
  const ran = snapshot && madeIn(snapshot, 'calls')
  if (ran !== undefined && isSameCalls(sent, ran)) {
    return ran.length === 0 && record.calls.length === 0 ? { calls: [] } : { calls: ran.map(withoutHeaders) }
  }
  if (ran !== undefined) reconciler.lose('calls', 'A run with what was recorded makes other calls.')
  return { calls: sent.map(recordedCall) }
}

/** A record has the requests that were stored, and no more of them. */
function expectedDeliveries(
  { deliveries = [] }: MessageRecord,
  snapshot: JsonObject | undefined,
  reconciler: Reconciler,
): JsonObject {
  const stored = deliveries.map(({ request, item }) => ({ id: request, ...(item === undefined ? {} : { item }) }))
  const ran =
    snapshot && madeIn(snapshot, 'deliveries').map(({ id, item = null }) => JSON.stringify([id ?? null, item]))
  if (ran?.join() === stored.map(({ id, item }) => JSON.stringify([id, item ?? null])).join())
    return deliveriesOfRun(snapshot ?? {})
  if (ran !== undefined) reconciler.lose('deliveries', 'A run with what was recorded stores other deliveries.')
  return stored.length === 0 ? {} : { deliveries: stored }
}

const withoutHeaders = ({ headers: _headers, body, ...call }: JsonObject): JsonObject => ({
  ...call,
  ...(body === undefined ? {} : { body: literal(body) }),
})

function isSameCalls(recorded: readonly RecordedCall[], ran: readonly JsonObject[]): boolean {
  const shown = recorded.map(({ kind, id, item, target }) =>
    JSON.stringify([kind, id, item ?? null, withoutQuery(target)]),
  )
  const run = ran.map((call, index) => {
    const { kind, id, item } = call
    const target = shownTargetText(call)
    const other = recorded[index]?.target ?? ''
    // References of secrets and redacted values stand in place of parts of it.
    const isMasked = /\$\{|\*\*\*/.test(other)
    return JSON.stringify([
      kind ?? null,
      id ?? null,
      item ?? null,
      isMasked ? withoutQuery(other) : withoutQuery(target),
    ])
  })
  return shown.length === run.length && shown.toSorted().join() === run.toSorted().join()
}

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? ''

/** With any query, since the record has none. */
const recordedCall = (call: RecordedCall): JsonObject => {
  const { kind, id, item, target } = call
  const { url, ...shown } = showTarget(call, withAnyQuery(target))
  const isMasked = url === undefined || /\$\{|\*\*\*/.test(target)
  return { kind, id, ...(item === undefined ? {} : { item }), ...shown, ...(isMasked ? {} : { url }) }
}

// Joins what a record says with what a run did: values that differ at every run are those of the run.

type Reconciler = Readonly<{
  /** A part of what happened; the run must have the same. `ran`: undefined if it has none. */
  same<T extends Json>(recorded: T, ran: Json | undefined, path: string): T
  /** A value that may hold values of the run. */
  value(recorded: Json, ran: Json | undefined, path: string): Json
  lose(path: string, reason: string): void
  readonly losses: readonly NotReproduced[]
}>

type ReconcilerOptions = Readonly<{
  record: MessageRecord
  document: Json
  /** Undefined if there was no run. */
  snapshot: Json | undefined
}>

const MAX_LOSSES = 50

/** How far a time of the message may be outside of the time that it took: clocks of processes differ. */
const CLOCKS_DIFFER_MS = 1_000

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/

function createReconciler({ record, document, snapshot }: ReconcilerOptions): Reconciler {
  const text = JSON.stringify(document)
  const usesChance = /\$(?:random|shuffle)\b/.test(text)
  const usesTime = /\$(?:now|millis|fromMillis|toMillis)\b|timestamps/.test(text)
  const startMs = Date.parse(record.startedAt)
  const ids = [record.id, ...(record.deliveries ?? []).map(({ id }) => id)]
  const losses: NotReproduced[] = []

  const lose = (path: string, reason: string): void => {
    if (losses.length < MAX_LOSSES) losses.push({ path: `expect.${path}`, reason })
  }

  const isTime = (value: Json): boolean => {
    const time = typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number(value)
    return time >= startMs - CLOCKS_DIFFER_MS && time <= startMs + record.ms + CLOCKS_DIFFER_MS
  }

  /** Whether the value of the run is as good; the reason if people should know. */
  function explain(recorded: Json, ran: Json): boolean | string {
    if (typeof recorded === 'string' && typeof ran === 'string') {
      if (ids.reduce((text, id) => text.replaceAll(id, NO_ID), recorded) === ran) return true
      if (ran.includes(REDACTED)) return 'A credential is part of it; the test expects what a run without it answered.'
      if (recorded.includes(MASK)) return 'A part of it was redacted; the test expects what a run answered.'
    }
    if (typeof recorded !== typeof ran) return recorded === MASK ? 'It was redacted.' : false
    if (typeof recorded === 'object' || typeof recorded === 'boolean') return false
    if (isTime(recorded) && isTime(ran)) return true
    if (usesTime && typeof recorded === 'string' && isSameForm(recorded, String(ran))) {
      return 'It depends on the time of the message, which is frozen in a test; the test expects what a run answered.'
    }
    return usesChance ? 'It depends on chance; the test expects what its seed gives.' : false
  }

  function value(recorded: Json, ran: Json | undefined, path: string): Json {
    if (recorded === ran || ran === undefined) {
      if (ran === undefined && snapshot !== undefined) lose(path, OTHER)
      return recorded
    }
    if (Array.isArray(recorded) && Array.isArray(ran) && recorded.length === ran.length) {
      return recorded.map((item: Json, index) => value(item, ran[index], documentPath(path, index)))
    }
    if (isObject(recorded) && isObject(ran)) return members(recorded, ran, path)
    const explained = explain(recorded, ran)
    if (explained === true) return ran
    lose(path, explained === false ? OTHER : explained)
    return explained === false ? recorded : ran
  }

  function members(recorded: Readonly<Record<string, Json>>, ran: Readonly<Record<string, Json>>, path: string): Json {
    const more = Object.keys(ran).find((name) => !Object.hasOwn(recorded, name))
    if (more !== undefined) lose(documentPath(path, more), 'A run with what was recorded has this too.')
    return Object.fromEntries(
      Object.entries(recorded).map(([name, member]) => [
        name,
        value(member, Object.hasOwn(ran, name) ? ran[name] : undefined, documentPath(path, name)),
      ]),
    )
  }

  return {
    same: (recorded, ran, path) => {
      if (snapshot !== undefined && recorded !== ran) lose(path, OTHER)
      return recorded
    },
    value,
    lose,
    losses,
  }
}

const OTHER = 'A run with what was recorded gives something else here.'

/** The same characters, but for digits. */
const isSameForm = (one: string, other: string): boolean =>
  one !== other && one.replace(/\d/g, '0') === other.replace(/\d/g, '0')
