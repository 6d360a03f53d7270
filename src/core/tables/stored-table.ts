/** Tables as they are stored: immutable versions of a name, each with its rows or, for a deletion, without. */
import type { Change } from '../stored-document.ts'

/** What a version of a table says of its rows, without them. */
export type TableHead = Readonly<{
  /** The first one is the key. */
  columns: readonly string[]
  rows: number
  /** Of the rows as they are stored; in memory they take about as many. */
  bytes: number
}>

/** The table that a name has now. */
export type StoredTable = TableHead &
  Readonly<{
    name: string
    version: number
    /** ISO 8601 with milliseconds and `Z`. */
    updatedAt: string
    /** By what the store finds the rows; two versions with the same rows may share it. */
    content: string
  }>

/** `version` counts the changes of one name, from 1. `head`: null after a deletion. */
export type TableVersion = Change & Readonly<{ version: number; head: TableHead | null; content: string }>

/** Versions stored for one table, its newest among them; each change removes older ones. */
export const VERSIONS_OF_A_TABLE = 20
