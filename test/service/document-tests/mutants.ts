/** Documents with one change, messages for any document, and whether a change alters what a message does. */
import { isObject, type Json, type JsonObject } from '../../../src/domain/json.ts'

export type Mutant = Readonly<{ name: string; document: JsonObject }>

/** One mutant for each entry, constant, transform, URL, query parameter and header. */
export function mutantsOf(document: JsonObject): readonly Mutant[] {
  const mutants: Mutant[] = []
  const add = (name: string, path: readonly (string | number)[], value: Json | undefined) =>
    void mutants.push({ name, document: changed(document, path, value) as JsonObject })
  const entries = (value: Json | undefined) => Object.entries(isObject(value) ? value : {})
  for (const [source, target] of entries(document.inputMapping)) {
    add(`without the entry ${source}`, ['inputMapping', source], undefined)
    add(`with another target of ${source}`, ['inputMapping', source], retargeted(target))
  }
  for (const [name] of entries(document.inputTransforms)) {
    add(`with another transform ${name}`, ['inputTransforms', name], '"mutant"')
    add(`without the transform ${name}`, ['inputTransforms', name], undefined)
  }
  for (const [name, value] of entries(document.constants)) {
    add(`with another constant ${name}`, ['constants', name], other(value))
  }
  for (const group of ['lookup', 'response']) {
    const requests = isObject(document.requests) ? document.requests[group] : undefined
    for (const [index, request] of (Array.isArray(requests) ? requests : []).entries()) {
      const path = ['requests', group, index, 'config']
      const config = isObject(request) && isObject(request.config) ? request.config : {}
      if (typeof config.url === 'string')
        add(`with another URL of ${group} ${index}`, [...path, 'url'], `${config.url}mutant`)
      for (const [name, value] of entries(config.headers)) {
        add(`with another header ${name}`, [...path, 'headers', name], `${value}; mutant`)
      }
      const query = isObject(config.params) ? config.params.query : undefined
      for (const [name] of entries(query))
        add(`without the parameter ${name}`, [...path, 'params', 'query', name], undefined)
    }
  }
  return mutants
}

function changed(value: Json, [name, ...rest]: readonly (string | number)[], to: Json | undefined): Json {
  if (name === undefined) return to ?? null
  if (Array.isArray(value)) return value.map((item: Json, index) => (index === name ? changed(item, rest, to) : item))
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).flatMap(([key, item]) => {
      if (key !== name) return [[key, item]]
      return rest.length === 0 && to === undefined ? [] : [[key, changed(item, rest, to)]]
    }),
  )
}

function retargeted(target: Json): Json {
  if (typeof target === 'string') return target.replace(/(\w)([^\w]*)$/, '$1Mutant$2')
  if (Array.isArray(target)) return target.map((one: Json, index) => (index === 0 ? retargeted(one) : one))
  return isObject(target) && typeof target.key === 'string' ? { ...target, key: retargeted(target.key) } : target
}

function other(value: Json): Json {
  if (typeof value === 'string') return `${value} mutant`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return [...value, 'mutant']
  return isObject(value) ? { ...value, mutant: 'mutant' } : 'mutant'
}

/** What a test gives to a document of which nothing but its own text is known: a value wherever it reads one. */
export function givenFor(document: JsonObject): JsonObject {
  const roots: Record<string, Json> = { requestBody: {}, query: {}, lookupRequests: {} }
  let count = 0
  for (const path of pathsOf(document)) {
    const [root = '', ...names] = path
      .replace(/^payload\b/, 'requestBody')
      .split(/\.|(?=\[)/)
      .filter((name) => name !== '')
    count += 1
    if (root in roots) roots[root] = placed(roots[root] ?? {}, names, `${count}`)
  }
  const { requestBody, query, lookupRequests } = roots
  const lookups = Object.entries(isObject(lookupRequests) ? lookupRequests : {}).map(([id, one]) => [
    id,
    { body: (isObject(one) && one.data) || {} },
  ])
  const ids = requestIds(document, 'lookup').map((id) => [id, { body: {} }])
  return {
    message: {
      body: requestBody ?? {},
      query: Object.fromEntries(Object.entries(query as JsonObject).filter(([, one]) => typeof one === 'string')),
    },
    lookups: { ...Object.fromEntries(ids), ...Object.fromEntries(lookups) },
  }
}

const requestIds = ({ requests }: JsonObject, group: string): readonly string[] => {
  const list = isObject(requests) ? requests[group] : undefined
  return (Array.isArray(list) ? list : []).flatMap((one) => (isObject(one) ? [String(one.id)] : []))
}

/** Everything in the document that looks like a path of a message, in expressions too. */
const pathsOf = (document: JsonObject): readonly string[] => [
  ...new Set(JSON.stringify(document).match(/\b(?:requestBody|payload|query|lookupRequests)(?:\.[\w-]+|\[\d*\])+/g)),
]

function placed(value: Json, [name, ...rest]: readonly string[], leaf: string): Json {
  if (name === undefined) return isObject(value) && Object.keys(value).length === 0 ? leaf : value
  if (/^\[/.test(name)) {
    const first = Array.isArray(value) ? (value[0] ?? {}) : {}
    return [placed(first, rest, leaf)]
  }
  if (Array.isArray(value)) return [placed(value[0] ?? {}, [name, ...rest], leaf)]
  const members = isObject(value) ? value : {}
  return { ...members, [name]: placed(members[name] ?? {}, rest, leaf) }
}
