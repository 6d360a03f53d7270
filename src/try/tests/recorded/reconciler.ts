/** Joins what a record says with what a run did: values that differ at every run are those of the run. */
import { isObject, type Json } from '../../../core/json.ts'
import { documentPath } from '../../../core/lint.ts'
import type { MessageRecord } from '../../../core/records/message-record.ts'
import { REDACTED } from '../../../core/secrets/secrets.ts'
import type { NotReproduced } from '../../dry-run/not-reproduced.ts'

export type Reconciler = Readonly<{
  /** A part of what happened; the run must have the same. `ran`: undefined if it has none. */
  same<T extends Json>(recorded: T, ran: Json | undefined, path: string): T
  /** A value that may hold values of the run. */
  value(recorded: Json, ran: Json | undefined, path: string): Json
  lose(path: string, reason: string): void
  readonly losses: readonly NotReproduced[]
}>

export type ReconcilerOptions = Readonly<{
  record: MessageRecord
  document: Json
  /** Undefined if there was no run. */
  snapshot: Json | undefined
}>

const MOST_LOSSES = 50

/** How far a time of the message may be outside of the time that it took: clocks of processes differ. */
const CLOCKS_DIFFER_MS = 1_000

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/

/** The id of every message of a test. */
const NO_ID = '0'.repeat(24)

export function createReconciler({ record, document, snapshot }: ReconcilerOptions): Reconciler {
  const text = JSON.stringify(document)
  const usesChance = /\$(?:random|shuffle)\b/.test(text)
  const usesTime = /\$(?:now|millis|fromMillis|toMillis)\b|timestamps/.test(text)
  const startMs = Date.parse(record.startedAt)
  const losses: NotReproduced[] = []

  const lose = (path: string, reason: string): void => {
    if (losses.length < MOST_LOSSES) losses.push({ path: `expect.${path}`, reason })
  }

  const isTime = (value: Json): boolean => {
    const time = typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number(value)
    return time >= startMs - CLOCKS_DIFFER_MS && time <= startMs + record.ms + CLOCKS_DIFFER_MS
  }

  /** Whether the value of the run is as good; the reason if people should know. */
  function explain(recorded: Json, ran: Json): boolean | string {
    if (typeof recorded === 'string' && typeof ran === 'string') {
      if (recorded.replaceAll(record.id, NO_ID) === ran) return true
      if (ran.includes(REDACTED)) return 'A credential is part of it; the test expects what a run without it answered.'
      if (recorded.includes('***')) return 'A part of it was redacted; the test expects what a run answered.'
    }
    if (typeof recorded !== typeof ran) return recorded === '***' ? 'It was redacted.' : false
    if (typeof recorded === 'object' || typeof recorded === 'boolean') return false
    if (isTime(recorded) && isTime(ran)) return true
    if (usesTime && typeof recorded === 'string' && isSameForm(recorded, String(ran))) {
      return 'It depends on the time of the message, which stands still in a test; the test expects what a run answered.'
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
