/** Warns of names in XML output that no XML element can have: each would fail a message. */
import { isObject, type Json } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { parseMediaType, syntaxOf, syntaxOfFormat } from '../../formats/media-type.ts'
import { isXmlName } from '../../formats/xml-characters.ts'
import { type Endpoint, isPrimary } from '../schema/schema.ts'
import { UNKNOWN } from '../schema/schema-fields.ts'

/** Lints, as warnings: names of mapping targets; ids of lookups in the output, ids of responses in the answer. */
export function lintXmlNames(endpoint: Endpoint, lint: LintSink): void {
  const { inputMapping, requests, transformation } = endpoint
  const answersXml = syntaxOfFormat(transformation.output) === 'xml'
  if (answersXml || requests.response.some(sendsXml)) {
    lintTargets(inputMapping, lint.at('inputMapping'))
    if (Object.keys(inputMapping).length === 0) lintIds(requests.lookup, lint.at('requests', 'lookup'))
  }
  const alone = requests.response.length === 1 || requests.response.some(isPrimary)
  const aggregated = !alone || requests.response.some(({ forEach }) => forEach !== undefined)
  if (answersXml && aggregated) lintIds(requests.response, lint.at('requests', 'response'))
}

function sendsXml({ config }: Endpoint['requests']['response'][number]): boolean {
  const own = Object.entries(config?.headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')
  const declared = own && parseMediaType(own[1])
  return declared !== undefined && syntaxOf(declared) === 'xml'
}

function lintTargets(inputMapping: Endpoint['inputMapping'], lint: LintSink): void {
  for (const [source, target] of Object.entries(inputMapping)) {
    const names = new Set(targetTexts(target).flatMap(targetNames))
    for (const name of names) {
      // `$` holds the attributes of an element, `_` its text.
      if (name !== '$' && name !== '_' && name !== '') lintName(name, lint.at(source))
    }
  }
}

function lintIds(requests: readonly Readonly<{ id: string }>[], lint: LintSink): void {
  requests.forEach(({ id }, index) => {
    if (id !== UNKNOWN) lintName(id, lint.at(index, 'id'))
  })
}

function lintName(name: string, lint: LintSink): void {
  if (isXmlName(name)) return
  lint.warning(`"${name}" cannot be the name of an XML element, and would become one here; choose another.`)
}

/** The target keys of an entry, in each form of a target; compiling the mapping checks whether they parse. */
function targetTexts(target: Json): string[] {
  const keyOf = (one: Json): Json | undefined => (Array.isArray(one) ? one[0] : isObject(one) ? one.key : one)
  const keys = Array.isArray(target) ? target.map(keyOf) : [keyOf(target)]
  return keys.filter((key) => typeof key === 'string')
}

/** The names in a target, without brackets, a last `+` or `?`, and the escapes of dots. */
const targetNames = (text: string): string[] =>
  text
    .replace(/\?$/, '')
    .split(/(?<!\\)\./)
    .map((part) => part.replace(/(?:\[[0-9]*\])+\+?$/, '').replaceAll('\\.', '.'))
