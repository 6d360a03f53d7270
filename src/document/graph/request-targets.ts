/** Where the requests of a document go, as pictures name it: a system by its host, a topic or a table by its name. */
import { addressOf, targetOf } from '../../outbound/targets.ts'
import type { LookupRequest, ResponseRequest } from '../schema/schema.ts'

export const THING_KINDS = ['topic', 'system', 'table'] as const
export type ThingKind = (typeof THING_KINDS)[number]
export type Thing = Readonly<{ kind: ThingKind; name: string }>

type Request = LookupRequest | ResponseRequest
type Fields = Parameters<typeof targetOf>[0]

/** What other endpoints may have to do with, too. */
export function thingOf(request: Request): Thing {
  const target = targetOf(request as Fields)
  const url = request.config?.url ?? ''
  const table = target.tableInUrl?.(url)
  if (table !== undefined) return { kind: 'table', name: table }
  const own = addressOf(request as Fields, target)
  if (own !== '') return { kind: 'topic', name: own }
  return { kind: 'system', name: hostIn(url) }
}

/** `GET erp.example.org/patients/:id`: without a query, which may hold credentials, and without those before the host. */
export function showRequest(request: Request): string {
  const { kind, name } = thingOf(request)
  if (kind !== 'system') return `${kind} ${name}`
  const url = request.config?.url ?? ''
  const parsed = URL.parse(url)
  const path = parsed === null ? '' : decoded(parsed.pathname)
  const method = targetOf(request as Fields).method ?? request.config?.method ?? ''
  return cut(`${method} ${name}${path === '/' ? '' : path}`.trim())
}

/** A URL may be a reference to a secret, or start with one: then it is its own name. */
function hostIn(url: string): string {
  const host = URL.parse(url)?.host ?? ''
  return host === ''
    ? cut(url.replace(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?/i, '').replace(/[/?#].*$/s, '') || url)
    : decoded(host)
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const MAX_CHARACTERS = 200
const cut = (text: string): string => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text)
