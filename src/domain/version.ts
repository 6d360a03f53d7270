/** What is kept of every accepted change of an endpoint, so that it can be seen, compared and undone. */
import type { StoredDocument } from './ports.ts'

export type ChangeMethod = 'create' | 'replace' | 'patch' | 'restore' | 'delete'

/** Who asked for a change, as far as that is known. More may be added; nothing that is here changes its meaning. */
export type Origin = Readonly<{
  /** IP address of the caller. */
  address?: string
  /** As `Caller.who` (domain/access.ts), and the name of the key or token. */
  who?: string
  name?: string
  /** What the caller says of itself, unchecked. */
  note?: string
}>

/** How a change came about. */
export type Change = Readonly<{
  method: ChangeMethod
  /** ISO 8601 with milliseconds and `Z`. */
  at: string
  origin: Origin
  /** The version whose document was put back. */
  restored?: number
}>

/** `version` counts the changes of one endpoint, from 1; it goes on where a deleted endpoint is restored. */
export type VersionSummary = Readonly<{ version: number }> & Change

/** `document` is what the change left; null where it left nothing. */
export type Version = VersionSummary & Readonly<{ document: StoredDocument | null }>

/** Older ones are removed with the next change of the endpoint. */
export const VERSIONS_OF_AN_ENDPOINT = 50

/** Of how many deleted endpoints the versions are kept: those that were deleted last. */
export const DELETED_ENDPOINTS = 50
