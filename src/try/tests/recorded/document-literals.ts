/** The values that an endpoint document itself names: enums of its schema, codes of its mapping, texts in its expressions. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { REDACTED } from '../../../core/secrets/secrets.ts'
import { STAMPS } from '../../../core/stored-document.ts'

/** Texts of JSON that stand for other values, and what stands in place of redacted ones. */
const ALWAYS = ['true', 'false', 'null', REDACTED, '***']

/** The texts and numbers within an expression or a path. */
const IN_TEXTS = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(?<![\w.])(-?\d+(?:\.\d+)?)(?![\w.])/g

/** The member whose names are values: the codes that `mapCodes` maps. */
const CODES = 'parameters'

/** What is written about the document, which no message is compared with. */
const ABOUT = new Set([...STAMPS, 'name', 'description'])

/** Out: texts, and numbers as texts. Values of messages that equal one of them say nothing about a person. */
export function literalsOf(document: JsonObject): ReadonlySet<string> {
  const found = new Set(ALWAYS)
  for (const [name, member] of Object.entries(document)) if (!ABOUT.has(name)) addLiterals(member, found)
  return found
}

function addLiterals(value: Json, found: Set<string>): void {
  if (typeof value === 'number') found.add(String(value))
  else if (typeof value === 'string') {
    found.add(value)
    for (const [, double, single, number] of value.matchAll(IN_TEXTS)) found.add(double ?? single ?? number ?? '')
  } else if (Array.isArray(value)) for (const item of value) addLiterals(item, found)
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === CODES && isObject(member)) for (const code of Object.keys(member)) found.add(code)
      addLiterals(member, found)
    }
  }
}
