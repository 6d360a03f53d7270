/**
 * Warns where the mapping writes a field that cannot be an XML element, while the output is XML: seen here it costs an
 * edit, seen in production it costs a message.
 */
import { isObject, type Json } from '../domain/json.ts'
import type { LintSink } from '../domain/lint.ts'
import { syntaxOfFormat } from '../formats/media-type.ts'
import { isXmlName } from '../formats/xml.ts'
import type { Endpoint } from './schema.ts'

/** `lint` is at `inputMapping`. Lints, as warnings: each name of a target that cannot be an XML name. */
export function lintXmlNames({ inputMapping, transformation }: Endpoint, lint: LintSink): void {
  if (syntaxOfFormat(transformation.output) !== 'xml') return
  for (const [source, target] of Object.entries(inputMapping)) {
    const names = new Set(targetTexts(target).flatMap(targetNames))
    for (const name of names) {
      // `$` holds the attributes of an element, `_` its text.
      if (name === '$' || name === '_' || name === '' || isXmlName(name)) continue
      lint
        .at(source)
        .warning(`"${name}" cannot be the name of an XML element; the output type is XML, so choose another.`)
    }
  }
}

/** The keys that an entry writes, in each form that a target can have; whether they parse is for the mapping to say. */
function targetTexts(target: Json): string[] {
  const keyOf = (one: Json): Json | undefined => (Array.isArray(one) ? one[0] : isObject(one) ? one.key : one)
  const keys = Array.isArray(target) ? target.map(keyOf) : [keyOf(target)]
  return keys.filter((key) => typeof key === 'string')
}

/** The names in a target: brackets, a last `+` or `?` and the escapes of dots left aside. */
const targetNames = (text: string): string[] =>
  text
    .replace(/\?$/, '')
    .split(/(?<!\\)\./)
    .map((part) => part.replace(/(?:\[[0-9]*\])+\+?$/, '').replaceAll('\\.', '.'))
