/** The message that both services get, and what keeps a comparison from being made. */
import { readFileSync } from 'node:fs'
import { readFault } from '../domain/files/files.ts'
import type { Json } from '../domain/json.ts'
import { Unreadable } from '../formats/body-faults.ts'
import { parseJson } from '../formats/json-read.ts'

/** The comparison cannot be made. The message is one sentence for the user. */
export class ComparisonImpossible extends Error {
  override readonly name = 'ComparisonImpossible'
}

export type ComparedMessage = Readonly<{
  /** The file, or the id of a transaction, for reports. */
  name: string
  /** Upper case. */
  method: string
  path: string
  query: Readonly<Record<string, string | readonly string[]>>
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array | undefined
}>

/** The JSON of a file. Throws ComparisonImpossible; `shown` names the file. */
export function readJsonFile(path: string, shown: string): Json {
  try {
    return parseJson(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
  } catch (thrown) {
    throw new ComparisonImpossible(
      thrown instanceof Unreadable ? `${shown}: ${thrown.message}` : readFault(shown, thrown),
    )
  }
}
