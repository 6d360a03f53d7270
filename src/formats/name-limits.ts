/** Bounds on the names of a body: each costs more time and memory than its bytes, and many in one place more than most. */
import { Unreadable } from './body-faults.ts'
import { closingQuote } from './json-scan.ts'

/** The settings, by their names in src/settings/groups/messages-settings.ts; one that is absent bounds nothing. */
export type NameLimits = Readonly<{
  /** Members of all objects, or elements and attributes. */
  parserMaxNames?: number | undefined
  /** Different names in one object, or of the attributes or the children of one element. */
  parserMaxNamesPerObject?: number | undefined
}>

/** `what`: the names, such as "attributes"; `where`: the place of the first one too many, if it is known. */
export const tooManyNames = (what: string, limit: number, setting: string, where = ''): Unreadable =>
  new Unreadable('too-many', `${what} than ${limit} (${setting})${where}; send it in parts.`)

/** `text`: JSON that need not be well-formed. Throws Unreadable if it has more than `most` names. */
export function refuseManyMembers(text: string, most: number): void {
  // A member has five characters at least, and a colon of its own.
  if (text.length < 5 * most || !hasMoreColons(text, most)) return
  if (hasMoreMembers(text, most)) throw tooManyNames('The JSON has more members', most, 'PARSER_MAX_NAMES')
}

function hasMoreColons(text: string, most: number): boolean {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1 && count <= most; at = text.indexOf(':', at + 1)) count += 1
  return count > most
}

/** Skips texts. Takes time linear in the length: no part of the text is searched twice. */
function hasMoreMembers(text: string, most: number): boolean {
  let count = 0
  let colon = text.indexOf(':')
  let quote = text.indexOf('"')
  while (colon !== -1 && count <= most) {
    if (quote === -1 || colon < quote) {
      count += 1
      colon = text.indexOf(':', colon + 1)
    } else {
      const end = closingQuote(text, quote)
      quote = text.indexOf('"', end + 1)
      if (colon < end) colon = text.indexOf(':', end + 1)
    }
  }
  return count > most
}
