/**
 * `ConceptMap/$translate` of FHIR R4 over tables, for terminology clients:
 * https://hl7.org/fhir/R4/conceptmap-operation-translate.html. Failures are OperationOutcomes.
 */
import { Failure } from '../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { anything, described, text } from '../core/schema.ts'
import type { Table } from '../core/tables/table.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import { unknownTable } from '../endpoints/management-failures.ts'
import { OUTCOME_MEDIA_TYPE, toOperationOutcome } from '../formats/operation-outcome.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import { openConceptMap } from '../tables/concept-map-table.ts'
import type { Call } from './call.ts'
import { route } from './route.ts'
import type { Api } from './services.ts'

/** By the names of parameters, each with its values. */
type Inputs = ReadonlyMap<string, readonly Json[]>

const QUERY = {
  url: described(text, 'The canonical URL of the ConceptMap, or the name of the table.'),
  code: described(text, 'The code to translate.'),
  system: described(text, 'Of the code. By default, any.'),
  source: described(text, 'The value set of the code, in place of `url`.'),
  target: described(text, 'The value set to translate to, in place of `url`.'),
  targetsystem: described(text, 'Targets of another system are left out.'),
} as const

const shared = {
  path: '/fhir/ConceptMap/$translate',
  role: 'viewer',
  answers: { 200: { description: 'Parameters of FHIR R4.', content: { [OUTCOME_MEDIA_TYPE]: { schema: anything } } } },
  fails: ['TABLE_UNKNOWN', 'FILTER_INVALID'],
} as const

export const fhirRoutes = [
  route({
    method: 'GET',
    ...shared,
    summary: 'Translates a code as the FHIR operation does.',
    query: QUERY,
    otherQuery: 'handler',
    handle: (call, api) => answerInFhir(call, () => translate(call.queryTexts, api)),
  }),
  route({
    method: 'POST',
    ...shared,
    summary: 'Translates a code as the FHIR operation does, with its parameters in the body.',
    body: { required: true, content: { [OUTCOME_MEDIA_TYPE]: { schema: anything } } },
    takesMessage: true,
    leavesNoEntry: true,
    handle: (call, api) => answerInFhir(call, () => translate(readParameters(call.json()), api)),
  }),
]

async function answerInFhir({ reply }: Call, work: () => Promise<JsonObject>) {
  const send = (status: number, resource: JsonObject, more: Readonly<Record<string, string>> = {}) =>
    sendAnswer(reply, {
      status,
      headers: { ...more, 'content-type': OUTCOME_MEDIA_TYPE },
      body: JSON.stringify(resource),
    })
  try {
    return send(200, await work())
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return send(thrown.status, toOperationOutcome(thrown, ''), { 'x-crosswalk-code': thrown.code })
  }
}

function readParameters(body: Json): Inputs {
  if (!isObject(body) || body.resourceType !== 'Parameters' || !Array.isArray(body.parameter)) {
    throw new Failure('FILTER_INVALID', 'Send "resourceType": "Parameters" with a list "parameter".')
  }
  const named = body.parameter.filter(isObject).map((one): readonly [string, Json] => {
    const value = Object.entries(one).find(([field]) => field.startsWith('value'))?.[1]
    return [String(one.name), value ?? null]
  })
  return new Map([...Map.groupBy(named, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => value)]))
}

const REFUSED = ['conceptMap', 'dependency']

async function translate(inputs: Inputs, { tables }: Api): Promise<JsonObject> {
  const refused = REFUSED.find((name) => inputs.has(name))
  if (refused !== undefined)
    throw new Failure('FILTER_INVALID', `The parameter "${refused}" isn't taken; leave it out.`)
  if (readInput(inputs, 'reverse') === 'true') {
    throw new Failure('FILTER_INVALID', 'Tables translate in one direction; make a table of the other one.')
  }
  const found = findMap(inputs, tables.current)
  const codings = readCodings(inputs)
  if (codings.length === 0) throw new Failure('FILTER_INVALID', 'Give "code", "coding" or "codeableConcept".')
  const targetSystem = readInput(inputs, 'targetsystem')
  const elements = await Promise.all(codings.map(({ code }) => found.map.find(code)))
  const matches = codings.flatMap(({ system }, index) => {
    const element = elements[index]
    if (element === undefined || differs(system, element.sourceSystem)) return []
    return differs(targetSystem, element.targetSystem)
      ? []
      : element.targets.map((target) => toMatch(target, element.targetSystem, found.map.url))
  })
  const result = matches.some(({ equivalence }) => equivalence !== 'unmatched' && equivalence !== 'disjoint')
  const message = `The table "${found.name}" has no translation of ${codings.map(({ code }) => `"${code}"`).join(', ')}.`
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueBoolean: result },
      ...(result ? [] : [{ name: 'message', valueString: message }]),
      ...matches.map(({ part }) => ({ name: 'match', part })),
    ],
  }
}

const differs = (wanted: string, has: string): boolean => wanted !== '' && has !== '' && wanted !== has

const readInput = (inputs: Inputs, name: string): string => {
  const [value] = inputs.get(name) ?? []
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

type Coding = Readonly<{ code: string; system: string }>

function readCodings(inputs: Inputs): readonly Coding[] {
  const concepts = (inputs.get('codeableConcept') ?? []).filter(isObject)
  const nested = concepts.flatMap(({ coding }) => (Array.isArray(coding) ? coding : []))
  const whole = [...(inputs.get('coding') ?? []), ...nested].filter(isObject)
  const alone = { code: readInput(inputs, 'code'), system: readInput(inputs, 'system') }
  return [
    alone,
    ...whole.map(({ code, system }) => ({ code: String(code ?? ''), system: String(system ?? '') })),
  ].filter(({ code }) => code !== '')
}

type ConceptMap = ReturnType<typeof openConceptMap>

/** A large one takes long to search, and a table never changes. */
const open = new WeakMap<Table, ConceptMap>()

function openOnce(table: Table): ConceptMap {
  const map = open.get(table) ?? openConceptMap(table)
  open.set(table, map)
  return map
}

/** By `url`, else by the value sets of source and target. Fails with TABLE_UNKNOWN, FILTER_INVALID. */
function findMap(inputs: Inputs, tables: TableSet): Readonly<{ name: string; map: ConceptMap }> {
  const url = readInput(inputs, 'url')
  const wanted = (url === '' ? (['source', 'target'] as const) : (['url'] as const))
    .map((name) => [name, readInput(inputs, name)] as const)
    .filter(([, text]) => text !== '')
  const [first] = wanted
  if (first === undefined) throw new Failure('FILTER_INVALID', 'Give "url", or "source" and "target".')
  const named = tables.get(url)
  if (named !== undefined) return { name: url, map: openOnce(named.table) }
  for (const { name, table } of tables.values()) {
    const map = openOnce(table)
    if (wanted.every(([of, text]) => map[of] === text)) return { name, map }
  }
  throw unknownTable(first[1])
}

function toMatch({ code, display, equivalence = 'equivalent' }: JsonObject, system: string, source: string) {
  const coding = {
    ...(system === '' ? {} : { system }),
    ...(code === undefined ? {} : { code }),
    ...(display === undefined ? {} : { display }),
  }
  const part: JsonObject[] = [
    { name: 'equivalence', valueCode: equivalence },
    ...(code === undefined ? [] : [{ name: 'concept', valueCoding: coding }]),
    ...(source === '' ? [] : [{ name: 'source', valueUri: source }]),
  ]
  return { equivalence, part }
}
