/** The vocabulary as sent. Only a new version of the service changes it, so its text and ETag are made once. */
import type { JsonObject } from '../core/json.ts'
import { computeEtag } from '../endpoints/precondition.ts'

export type VocabularyText = () => Promise<Readonly<{ body: string; etag: string }>>

export function createVocabularyText(describe: () => Promise<JsonObject>): VocabularyText {
  let made: ReturnType<VocabularyText> | undefined
  const make = async () => {
    const value = await describe()
    return { body: JSON.stringify(value), etag: computeEtag(value) }
  }
  return () => {
    made ??= make()
    return made
  }
}
