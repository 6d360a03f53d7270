/** What a path of the document can find below each root of the message. */
import { isObject, type Json } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Root } from '../../core/message.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { PathStep } from '../../language/paths/path.ts'
import { isElementName, pathText } from '../../language/paths/path-steps.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import { hasBody, nameBodiless } from '../doors.ts'
import type { Endpoint } from '../schema/schema.ts'
import { UNKNOWN, UNKNOWN_PATTERN } from '../schema/schema-fields.ts'

/** `reader`: the transform that reads the path. */
type Check = (names: readonly string[], endpoint: Endpoint, lint: LintSink, reader: string | undefined) => void

export const CHECKS_BELOW: Readonly<Partial<Record<Root, Check>>> = {
  constants: checkConstant,
  urlParams: checkUrlParameter,
  lookupRequests: ([id], endpoint, lint) => {
    if (id !== undefined) checkLookupId(id, endpoint, lint)
  },
  responses: ([id], { requests }, lint) => {
    if (id !== undefined)
      isDefined(
        id,
        requests.response.map((one) => one.id),
        `There is no response with the id "${id}"`,
        lint,
      )
  },
  transforms: checkTransform,
  requestBody: checkBody,
  requestHeaders: checkHeader,
  state: checkState,
}

/** Lints, as an error: an id that no lookup of the document has. */
export function checkLookupId(id: string, { requests }: Endpoint, lint: LintSink): void {
  const ids = requests.lookup.map((lookup) => lookup.id)
  isDefined(id, ids, `There is no lookup with the id "${id}"`, lint)
}

/** Reports a name that is not among the known ones, unless those could not be read. */
function isDefined(name: string, known: readonly string[], fault: string, lint: LintSink): boolean {
  if (known.includes(name)) return true
  if (!known.includes(UNKNOWN)) lint.error(`${fault}${didYouMean(name, known)}`)
  return false
}

/** Warns of the first name that the object before it does not have. `fault` is the sentence up to that name. */
function checkWithin(
  value: Json | undefined,
  names: readonly string[],
  fault: (before: readonly string[]) => string,
  lint: LintSink,
): void {
  let level = value
  for (const [index, name] of names.entries()) {
    if (!isObject(level)) return
    if (!Object.hasOwn(level, name)) {
      lint.warning(`${fault(names.slice(0, index))} "${name}"${didYouMean(name, Object.keys(level))}`)
      return
    }
    level = level[name]
  }
}

function checkConstant([name, ...inner]: readonly string[], { constants }: Endpoint, lint: LintSink): void {
  if (name === undefined) return
  if (!isDefined(name, Object.keys(constants), `The constant "${name}" is not defined`, lint)) return
  checkWithin(constants[name], inner, () => `The constant "${name}" holds no`, lint)
}

function checkUrlParameter([name]: readonly string[], { endpoint }: Endpoint, lint: LintSink): void {
  if (name === undefined || endpoint.pattern === UNKNOWN_PATTERN) return
  if (endpoint.pattern === undefined) {
    lint.error(`There is no parameter "${name}" without "endpoint.pattern".`)
    return
  }
  const pattern = parseRoutePattern(endpoint.pattern)
  if (!pattern.ok) return
  isDefined(name, pattern.value.parameters, `"endpoint.pattern" has no parameter "${name}"`, lint)
}

function checkTransform(
  [name]: readonly string[],
  { inputTransforms = {} }: Endpoint,
  lint: LintSink,
  reader: string | undefined,
): void {
  const defined = Object.keys(inputTransforms)
  if (name === undefined || !isDefined(name, defined, `The transform "${name}" is not defined`, lint)) return
  if (reader === undefined || defined.indexOf(name) < defined.indexOf(reader)) return
  lint.error(`A transform sees those before it only; write "${name}" before "${reader}".`)
}

function checkBody(_names: readonly string[], endpoint: Endpoint, lint: LintSink): void {
  if (hasBody(endpoint)) return
  lint.warning(`A ${nameBodiless(endpoint)} brings no body: "requestBody" is always empty here.`)
}

function checkHeader([name]: readonly string[], _endpoint: Endpoint, lint: LintSink): void {
  if (name === undefined || name === name.toLowerCase()) return
  lint.warning(`Names of headers are lower case in a message; write "${name.toLowerCase()}".`)
}

const EXTRACTED: readonly string[] = ['requestBody', 'responseBody', 'query', 'lookupRequests']
const STATE_PARTS: readonly string[] = [...EXTRACTED, 'lookupHttpStatus', 'lookupNetworkError', 'system']

/** Warns where nothing can ever be found: `state` has what `state.extract` names, and what is stored for every message. */
function checkState([part, ...rest]: readonly string[], { state }: Endpoint, lint: LintSink): void {
  if (part === undefined || part === 'system') return
  if (!STATE_PARTS.includes(part)) {
    lint.warning(`A state holds no "${part}"${didYouMean(part, STATE_PARTS)}`)
  } else if (EXTRACTED.includes(part)) {
    const fault = (before: readonly string[]) => `"${['state.extract', ...before].join('.')}" keeps no`
    checkWithin((state.extract ?? {}) as Json, [part, ...rest], fault, lint)
  } else if (rest[0] !== undefined) {
    lint.warning(`"state.${part}" holds no "${rest[0]}".`)
  }
}

type Requests = readonly Readonly<{ id: string; forEach?: object }>[]

/** What the answers of requests have below the id. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  lookupRequests: ['data', 'headers', 'status'],
  responses: ['data', 'headers', 'status'],
}

/** As missedInLookup, for a path below any root. */
export const missedInRequest = (
  root: string,
  steps: readonly PathStep[],
  { requests }: Endpoint,
): string | undefined =>
  root === 'responses' ? missedIn(root, steps, requests.response) : missedInLookup(steps, requests.lookup)

/**
 * The sentence for a path that can never find anything in a lookup, with the path that is probably meant; undefined for any
 * other path. Other services keep the data directly under the lookup's id, so documents written for them have such paths.
 */
export const missedInLookup = (steps: readonly PathStep[], lookups: Requests): string | undefined =>
  missedIn('lookupRequests', steps, lookups)

function missedIn(root: string, steps: readonly PathStep[], requests: Requests): string | undefined {
  const [first, id] = steps
  const isBelow = first?.kind === 'name' && first.name === root
  const request = isBelow && id?.kind === 'name' ? requests.find((one) => one.id === id.name) : undefined
  const parts = PARTS[root] ?? []
  if (request === undefined) return undefined
  const isList = request.forEach !== undefined
  const at = steps.findIndex((step, index) => index > 1 && !isElement(step, isList))
  const part = steps[at]
  if (part?.kind !== 'name' || parts.includes(part.name)) return undefined
  // Many call what is `data` here the body of an answer.
  const rest = steps.slice(part.name === 'body' ? at + 1 : at)
  const meant = pathText([...steps.slice(0, at), { kind: 'name', name: 'data' }, ...rest])
  const shown = parts
    .map((one) => `"${one}"`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1')
  return `A ${root === 'responses' ? 'response' : 'lookup'} holds ${shown} only, so this finds nothing; did you mean "${meant}"?`
}

/** With `forEach`, a lookup is an array; brackets take a single value as an array of one. */
const isElement = (step: PathStep, isList: boolean): boolean =>
  step.kind === 'index' || step.kind === 'each' || (isList && step.kind === 'name' && isElementName(step.name))
