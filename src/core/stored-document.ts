/** An endpoint document as stored, and the versions that its changes leave: to see, compare and undo them. */
import type { JsonObject } from './json.ts'

/** A checked document as stored and returned, with the fields that the service sets. */
export type StoredDocument = JsonObject &
  Readonly<{
    /** 24 lower-case hex digits, time-ordered. */
    _id: string
    name: string
    /** ISO 8601 with milliseconds and `Z`. */
    createdAt: string
    updatedAt: string
    __v: 0
  }>

/** The fields of a stored document that the service sets; it ignores them in documents that are sent. */
export const STAMPS: ReadonlySet<string> = new Set(['_id', 'createdAt', 'updatedAt', '__v'])

/** A document without the fields that the service sets. */
export const withoutStamps = (document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !STAMPS.has(name)))

export const CHANGE_METHODS = ['create', 'replace', 'patch', 'restore', 'delete'] as const
export type ChangeMethod = (typeof CHANGE_METHODS)[number]

/** Who requested a change, as far as it is known. Fields may be added; the meaning of these never changes. */
export type Origin = Readonly<{
  /** IP address of the caller. */
  address?: string
  /** As `Caller.who` (core/access.ts), and the name of the key or token. */
  who?: string
  name?: string
  /** What the caller says about itself, unchecked; at most NOTE_CHARACTERS. */
  note?: string
  /** The reason for which an admin lets the change through although stored tests fail; at most NOTE_CHARACTERS. */
  testsOverride?: string
}>

export const NOTE_CHARACTERS = 200

/** The origin of a change. */
export type Change = Readonly<{
  method: ChangeMethod
  /** ISO 8601 with milliseconds and `Z`. */
  at: string
  origin: Origin
  /** The version whose document was restored. */
  restored?: number
}>

/** `version` counts the changes of one endpoint, from 1; the count continues when a deleted endpoint is restored. */
export type VersionSummary = Readonly<{ version: number }> & Change

/** `document` is the result of the change; null after a deletion. */
export type Version = VersionSummary & Readonly<{ document: StoredDocument | null }>

/** Versions stored for one endpoint; each change removes older ones. */
export const VERSIONS_OF_AN_ENDPOINT = 50

/** Deleted endpoints whose versions are stored: the most recently deleted ones. */
export const DELETED_ENDPOINTS = 50
