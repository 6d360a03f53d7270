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

/** `text`: JSON that need not be well-formed. Throws Unreadable if it has more than `max` names. */
export function refuseManyMembers(text: string, max: number): void {
  // A member has five characters at least, and a colon of its own.
  if (text.length < 5 * max || !hasMoreColons(text, max)) return
  if (hasMoreMembers(text, max)) throw tooManyNames('The JSON has more members', max, 'PARSER_MAX_NAMES')
}

function hasMoreColons(text: string, max: number): boolean {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1 && count <= max; at = text.indexOf(':', at + 1)) count += 1
  return count > max
}

/** Skips texts. Takes time linear in the length: no part of the text is searched twice. */
function hasMoreMembers(text: string, max: number): boolean {
  let count = 0
  let colon = text.indexOf(':')
  let quote = text.indexOf('"')
  while (colon !== -1 && count <= max) {
    if (quote === -1 || colon < quote) {
      count += 1
      colon = text.indexOf(':', colon + 1)
    } else {
      const end = closingQuote(text, quote)
      quote = text.indexOf('"', end + 1)
      if (colon < end) colon = text.indexOf(':', end + 1)
    }
  }
  return count > max
}
