/** What the import makes of the documents of the peer, and the report of every change. */
import type { Json, JsonObject } from '../domain/json.ts'

/**
 * carried: taken as it is, and worth knowing; changed: written otherwise, with the same effect; differs: works, with an effect
 * that differs from that of the peer; lost: has no counterpart.
 */
export type ChangeLevel = 'carried' | 'changed' | 'differs' | 'lost'

export type DocumentChange = Readonly<{
  level: ChangeLevel
  /** Place in the document of the peer; the empty string is the document. */
  path: string
  before?: Json
  after?: Json
  /** One sentence; never holds a credential, nor do `before` and `after`. */
  reason: string
}>

export type ConvertedDocument = Readonly<{
  source: string
  document: JsonObject
  changes: readonly DocumentChange[]
  /** The newest state of the endpoint, in the form in which this service stores it. */
  state?: JsonObject
}>

/** A credential that was moved out of the documents. */
export type SecretLine = Readonly<{ name: string; value: string }>

export type ConversionOptions = Readonly<{
  /**
   * The version of the peer that the documents were written for, for example `2.4.0`; undefined: found out from the
   * documents.
   */
  peerVersion: string | undefined
  consumerStart: string | undefined
  /** URLs that start with `from` get `to` in its place. */
  rebase: readonly Readonly<{ from: string; to: string }>[]
}>

/** `undecided`: the question to ask if the set does not show which version of the peer it was written for. */
export type Conversion =
  | Readonly<{ documents: readonly ConvertedDocument[]; secrets: readonly SecretLine[]; undecided?: undefined }>
  | Readonly<{ undecided: string }>
