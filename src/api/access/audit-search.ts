/** Searches the audit log by filters, page by page. */

import { Failure } from '../../core/failure.ts'
import { readTime, TIME_ACCEPTS } from '../../core/iso-time.ts'
import { didYouMean } from '../../core/nearest.ts'
import { pageOf, readCursor } from '../../core/records/message-record.ts'
import type { Clock } from '../../core/run.ts'
import type { AuditEntry, AuditFilter } from '../../store/sql/audit-store.ts'
import type { AuditLog } from './audit-log.ts'

export const DEFAULT_LIMIT = 50
export const LARGEST_LIMIT = 500

/** `next`: the cursor of the next page, if there is one. */
export type AuditPage = Readonly<{ entries: readonly AuditEntry[]; next?: string }>

/** Each query parameter with its values. */
export type QueryTexts = ReadonlyMap<string, readonly string[]>

const KNOWN = { who: 'text', what: 'text', from: 'time', to: 'time', limit: 'number', cursor: 'text' } as const
const NAMES = Object.keys(KNOWN)

/** Newest first. Fails with FILTER_INVALID, STORE_UNAVAILABLE. */
export async function searchAudit(log: AuditLog, texts: QueryTexts, clock: Clock): Promise<AuditPage> {
  const limit = limitOf(once('limit', texts))
  const found = await log.find(readFilter(texts, clock()), limit + 1, readCursor(texts.get('cursor')))
  const { page: entries, ...next } = pageOf(found, limit)
  return { entries, ...next }
}

function readFilter(texts: QueryTexts, nowMs: number): AuditFilter {
  const filter: Record<string, readonly string[] | number> = {}
  for (const [name, values] of texts) {
    if (!isKnown(name)) {
      throw invalid(`There is no filter "${name}"${didYouMean(name, NAMES)} There are: ${NAMES.join(', ')}.`)
    }
    if (KNOWN[name] === 'time') filter[name] = timeOf(name, once(name, texts) ?? '', nowMs)
    else if (name === 'who' || name === 'what') filter[name] = values
  }
  return filter
}

const isKnown = (name: string): name is keyof typeof KNOWN => Object.hasOwn(KNOWN, name)

const invalid = (sentence: string): Failure => new Failure('FILTER_INVALID', sentence)

function once(name: string, texts: QueryTexts): string | undefined {
  const [text, ...more] = texts.get(name) ?? []
  if (more.length > 0) throw invalid(`${name} can be given once only.`)
  return text
}

function timeOf(name: string, text: string, nowMs: number): number {
  const ms = readTime(text, nowMs)
  if (ms === undefined) throw invalid(`${name} cannot be "${text}"; it is ${TIME_ACCEPTS}.`)
  return ms
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= LARGEST_LIMIT) return limit
  throw invalid(`limit cannot be "${text}"; it is a whole number from 1 to ${LARGEST_LIMIT}.`)
}
