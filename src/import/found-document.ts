/** What a source of `crosswalk import` holds: documents and states of openhim-mediator-mapping ("the peer"), as read. */
import type { Json, JsonObject } from '../domain/json.ts'

/** A name that an object of the text holds more than once; a JSON parser keeps the last value. */
export type DuplicateName = Readonly<{ path: string; dropped: Json }>

export type FoundDocument = Readonly<{
  /** The file or URL; with `#2` for the second document of a file. */
  source: string
  document: JsonObject
  duplicateNames: readonly DuplicateName[]
  /** An earlier import wrote the document: it is in the form of this service already. */
  isCanonical: boolean
  /** The version of the peer that the shape of the source shows, for example `0.2.0`; undefined if it shows none. */
  peerVersion?: string
}>

/** One stored state of an endpoint of the peer. */
export type FoundState = Readonly<{
  source: string
  /** `_id` of the document whose state it is. */
  endpointId: string
  /** ISO 8601, when the peer stored it. */
  createdAt: string
  state: JsonObject
}>

export type FoundSet = Readonly<{ documents: readonly FoundDocument[]; states: readonly FoundState[] }>
