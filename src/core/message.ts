/**
 * What an endpoint can address, stage by stage. Every property name is a path root that stored documents use.
 * A message only grows: each stage takes a read-only message and returns a wider one.
 */
import type { Failure } from './failure.ts'
import type { Json, JsonObject } from './json.ts'
import { STAGE_NAMES, STAGES, type StageKind, type StageName } from './tracing/stages.ts'

export type Headers = Readonly<Record<string, string>>

/** A message before its body is parsed; the bytes of the body are in the Run, where no path can address them. */
export type Received = Readonly<{
  constants: JsonObject
  requestHeaders: Headers
  query: JsonObject
  urlParams: JsonObject
  timestamps: JsonObject
}>

export type Recalled = Received & Readonly<{ state: JsonObject }>
export type Parsed = Recalled & Readonly<{ requestBody: Json }>
/**
 * `lookupRequests.<id>` is `{ data, headers }`, with `status` if the document reads it, or an array of these if the lookup has a
 * `forEach`; an optional lookup that failed may have no `data`.
 */
export type Enriched = Parsed & Readonly<{ lookupRequests: JsonObject }>
export type Transformed = Enriched & Readonly<{ transforms: JsonObject }>
export type Mapped = Transformed & Readonly<{ responseBody: Json }>
/** Bytes where the format has a charset other than UTF-8. */
export type Serialised = Mapped & Readonly<{ output: string | Uint8Array }>
/** `responses.<id>` is `{ status, headers, data }`, or an array of these; only where the document reads it for its own answer. */
export type Answered = Serialised & Readonly<{ answer: Answer; responses?: JsonObject }>

/** The answer to the sender of the message. */
export type Answer = Readonly<{
  status: number
  /** Names in lower case; an answer with a body has a content-type. */
  headers: Readonly<Record<string, string | readonly string[]>>
  body: string | Uint8Array
  /** Some of several response requests failed, even if the answer does not say so. */
  partial?: true
  /** The target of the response request refused: its status is outside `allowedStatuses`. */
  refused?: true
  /** Why the answer is partial or refused: the first request that did not succeed. Absent of an answer that is repeated. */
  why?: Failure
  /** The id of the earlier message whose cached response is replayed. */
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
