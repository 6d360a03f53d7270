/** The names of unread fields as answers show them: not the ones that look like data, and not in full length. */
import type { UnreadStep } from '../../document/reads/read-recorder.ts'
import { pathText } from '../../language/paths/path-steps.ts'
import { ANY_KEY, EACH_KEY, type FieldKeys } from './field-tree.ts'

const NAME_LENGTH_MAX = 64
/** Names with so many digits are ids, dates or numbers of something rather than fields. */
const DIGITS_OF_DATA = 5

/**
 * Gives the keys of the steps of one message, whose names may be as long as itself and stand above many leaves. `hideSecrets`:
 * puts references in the place of the secrets in a text.
 */
export function createKeys(hideSecrets: (text: string) => string): (steps: readonly UnreadStep[]) => FieldKeys {
  const known = new Map<string, string>()
  const keyOf = (name: string): string => {
    const found = known.get(name)
    if (found !== undefined) return found
    const key = looksLikeData(name) ? ANY_KEY : `.${pathText([{ kind: 'name', name: shortened(hideSecrets(name)) }])}`
    known.set(name, key)
    return key
  }
  return (steps) =>
    steps.map((step) => {
      if (step.kind === 'each') return EACH_KEY
      return step.kind !== 'name' || step.isKey ? ANY_KEY : keyOf(step.name)
    })
}

/** In: keys from the root on. Out: the path as a document writes it. */
export const pathOfKeys = (keys: FieldKeys): string => keys.join('').slice(1)

function looksLikeData(name: string): boolean {
  // Addresses have it within; names of JSON-LD and of XML attributes at the start.
  if (name.indexOf('@') > 0) return true
  let digits = 0
  for (let at = 0; at < name.length && digits < DIGITS_OF_DATA; at += 1) {
    const unit = name.charCodeAt(at)
    if (unit >= 0x30 && unit <= 0x39) digits += 1
  }
  return digits === DIGITS_OF_DATA
}

const shortened = (name: string): string =>
  name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - 1).toWellFormed()}…`
