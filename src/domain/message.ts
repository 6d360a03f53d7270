/**
 * What an endpoint can address, stage by stage. Every property name is a path root that stored documents use.
 * A message only grows: each stage takes a read-only message and returns a wider one.
 */
import type { Json, JsonObject } from './json.ts'
import { STAGE_NAMES, STAGES, type StageKind, type StageName } from './tracing/stages.ts'

export type Headers = Readonly<Record<string, string>>

/** A message as it reached the service, before its body was read; the body's bytes are in the Run, where no path can address them. */
export type Received = Readonly<{
  constants: JsonObject
  requestHeaders: Headers
  query: JsonObject
  urlParams: JsonObject
  timestamps: JsonObject
}>

export type Recalled = Received & Readonly<{ state: JsonObject }>
export type Parsed = Recalled & Readonly<{ requestBody: Json }>
/** `lookupRequests.<id>` is `{ data, headers }`, or an array of them where the lookup has a `forEach`; an optional one that failed may have no `data`. */
export type Enriched = Parsed & Readonly<{ lookupRequests: JsonObject }>
export type Transformed = Enriched & Readonly<{ transforms: JsonObject }>
export type Mapped = Transformed & Readonly<{ responseBody: Json }>
export type Serialised = Mapped & Readonly<{ output: string }>
export type Answered = Serialised & Readonly<{ answer: Answer }>

/** What goes back to whoever sent the message. */
export type Answer = Readonly<{
  status: number
  /** Lower-case names; content-type among them where there is a body. */
  headers: Readonly<Record<string, string | readonly string[]>>
  body: string | Uint8Array
  /** Whether some of several response requests failed, told in the answer or not. */
  partial?: true
  /** Whether it is the answer of a response request whose target refused: outside `allowedStatuses`. */
  refused?: true
  /** The message that it is the answer of, where it was kept from that one and is given again. */
  repeats?: string
}>

type StageRoot = {
  [Name in StageName]: (typeof STAGES)[Name] extends { adds: infer Root; isRoot: true } ? Root : never
}[StageName]

export type Root = keyof Received | StageRoot

/** The roots that configuration may read, each with the stage that adds it. */
export const ROOTS = {
  constants: 'start',
  requestHeaders: 'start',
  query: 'start',
  urlParams: 'start',
  timestamps: 'start',
  ...Object.fromEntries(
    STAGE_NAMES.flatMap((stage) => {
      const { adds, isRoot }: StageKind = STAGES[stage]
      return isRoot ? [[adds, stage]] : []
    }),
  ),
} as Readonly<Record<Root, StageName | 'start'>>
