/** Secrets where the real ones must not be used: values that the caller gives, else the name of the secret. */
import { parseReferences, type Reference } from '../../core/secrets/references.ts'
import type { SecretSource } from '../../core/secrets/secrets.ts'

/** `given`: the value that the caller gives for a name or path; undefined if there is none. */
export const createStandInSecrets = (given: (name: string) => string | undefined): SecretSource => ({
  resolve: (text) =>
    parseReferences(text)
      ?.map((part) => (typeof part === 'string' ? part : (given(part.name) ?? standInFor(part))))
      .join('') ?? text,
})

/** A text that any part of a URL can hold, its host too. */
const standInFor = ({ name }: Reference): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
