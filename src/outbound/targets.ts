/** The targets of requests of documents: one row each. Nothing else of src/ names one. */
import type { EgressPolicy } from '../core/egress/egress-policy.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { type OutboundHealth, sumHealth } from '../core/ports/http-client-port.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Outbound } from '../core/ports/outbound-port.ts'
import type { CallSpan } from '../core/tracing/trace.ts'
import { HTTP_TARGET } from './http/http-target.ts'
import { TOPIC_TARGET } from './kafka/topic-target.ts'
import { MLLP_TARGET } from './mllp/mllp-target.ts'
import { TABLE_TARGET } from './table/table-target.ts'
import type { Fields, OpenTarget, Target } from './target.ts'

const TARGETS = {
  http: HTTP_TARGET,
  kafka: TOPIC_TARGET,
  mllp: MLLP_TARGET,
  table: TABLE_TARGET,
} as const satisfies Readonly<Record<string, Target>>

type TargetName = keyof typeof TARGETS

export type NamedTarget = Target & Readonly<{ id: TargetName }>

const ROWS: readonly NamedTarget[] = Object.entries<Target>(TARGETS).map(([id, row]) => ({
  ...row,
  id: id as TargetName,
}))

/** URLs whose scheme is not in the document, because a secret has it, or is wrong, are checked and called as these. */
const DEFAULT = { ...TARGETS.http, id: 'http' } as const satisfies NamedTarget

const urlOf = ({ config }: Fields): unknown => (isObject(config as JsonObject) ? (config as Fields).url : undefined)

const fieldOf = ({ own }: Target): string => own?.name ?? 'config.url'

/** The fields of a request that name its target, of which it has exactly one. */
export const TARGET_FIELDS: readonly string[] = [...new Set(ROWS.map(fieldOf))]

export const hasTargetField = (request: Fields, field: string): boolean =>
  (field === 'config.url' ? urlOf(request) : request[field]) !== undefined

/** The schemes that a URL of a request can have. */
export const URL_SCHEMES: readonly string[] = ROWS.flatMap(({ schemes = [] }) => schemes)

const bySchemeOf = (url: string): NamedTarget | undefined => {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase()
  return ROWS.find(({ schemes }) => scheme !== undefined && schemes?.includes(scheme))
}

/** The target of a request, by the fields that the request has. */
export function targetOf(request: Fields): NamedTarget {
  const own = ROWS.find((row) => row.own !== undefined && request[row.own.name] !== undefined)
  if (own !== undefined) return own
  const url = urlOf(request)
  return (typeof url === 'string' ? bySchemeOf(url) : undefined) ?? DEFAULT
}

/** `name`: of a destination. */
export const targetNamed = (name: string): NamedTarget => ROWS.find(({ id }) => id === name) ?? DEFAULT

/** What the field of its own names, such as a topic; empty if it goes to a URL. */
export const addressOf = (request: Fields, { own }: Target): string =>
  own === undefined ? '' : String(request[own.name])

/** For each field that one target alone takes: the target, and the sentence for a request to another one. */
export const fieldsOfOthers = (target: NamedTarget): readonly (readonly [field: string, sentence: string])[] =>
  ROWS.filter(({ id }) => id !== target.id).flatMap(({ takes = {} }) => Object.entries(takes))

/** How records and traces name where a call goes. */
export const formatTarget = ({ own }: Target, address: string, url: string): string =>
  own === undefined ? url : own.prefix + address

/** The target of a call, and its address without the prefix of records: a URL, a topic. */
export function readTarget(text: string): Readonly<{ target: NamedTarget; address: string }> {
  const own = ROWS.find((row) => row.own !== undefined && text.startsWith(row.own.prefix))
  if (own?.own === undefined) return { target: bySchemeOf(text) ?? DEFAULT, address: text }
  return { target: own, address: text.slice(own.own.prefix.length) }
}

/** As reports and expectations show where a call goes; `url`: as they show URLs. `key`: of a record. */
export function showTarget(
  { method, target: text }: Pick<CallSpan, 'method' | 'target'>,
  url: Json,
  key?: string | null,
): JsonObject {
  const { target, address } = readTarget(text)
  if (target.own === undefined) return { method, url }
  const { shownAs } = target.own
  return { [shownAs]: address, ...(key !== undefined && target.takes?.key !== undefined ? { key } : {}) }
}

/** The text of a target, from what `showTarget` made of it. */
export function shownTargetText(shown: JsonObject): string {
  const own = ROWS.find((row) => row.own !== undefined && typeof shown[row.own.shownAs] === 'string')?.own
  return own === undefined ? String(shown.url) : `${own.prefix}${shown[own.shownAs]}`
}

type Opens = (typeof TARGETS)[TargetName]['open']
/** What each target may need of its service. */
type Shared = Readonly<{ settings: unknown; egress: EgressPolicy; logger: Pick<Logger, 'info' | 'warn'> }>
/** A function that takes the needs of any takes those of all. */
type NeedsOfEach = (
  Opens extends infer One
    ? One extends (needs: infer Needs) => unknown
      ? (needs: Needs) => void
      : never
    : never
) extends (needs: infer All) => void
  ? All
  : never

export type OutboundTargets = Outbound & Readonly<{ health(): OutboundHealth; close(): Promise<void> }>

/** Opens all targets behind one port. */
export function openTargets(needs: Shared & NeedsOfEach): OutboundTargets {
  const open = new Map<string, OpenTarget>(ROWS.map(({ id, open }) => [id, open(needs as never)]))
  return {
    send: (to, outgoing, run, called) => (open.get(to.target) as OpenTarget).send(to, outgoing, run, called),
    health: () => sumHealth([...open.values()].flatMap((one) => one.health?.() ?? [])),
    close: async () => {
      await Promise.all([...open.values()].map((one) => one.close?.()))
    },
  }
}
