/**
 * What a path of the document can find at its stage. A path to something that is never there would silently add no
 * field, so it is refused when the document is registered.
 */
import { isObject, type Json } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { ROOTS, type Root } from '../../domain/message.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { STAGE_NAMES, type StageName } from '../../domain/tracing/stages.ts'
import type { PathStep, SourcePath } from '../../language/paths/path.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import type { Endpoint } from '../schema/schema.ts'
import { UNKNOWN, UNKNOWN_PATTERN } from '../schema/schema-fields.ts'
import { missedInLookup } from './lookup-parts.ts'
import { checkState } from './state-names.ts'

/** Who reads a path; `-item` inside a request with `forEach` (its `items` are read outside it). */
export type ReferenceStage = 'lookup' | 'lookup-item' | 'transform' | 'map' | 'respond' | 'respond-item' | 'record'

/** The stage before which a root must exist; the message's record is written after all of them. */
const READ_BEFORE: Readonly<Record<ReferenceStage, StageName | undefined>> = {
  lookup: 'lookup',
  'lookup-item': 'lookup',
  transform: 'transform',
  map: 'map',
  respond: 'respond',
  'respond-item': 'respond',
  record: undefined,
}

const WHEN: Readonly<Record<ReferenceStage, string>> = {
  lookup: 'when lookups are made',
  'lookup-item': 'when lookups are made',
  transform: 'when transforms are evaluated',
  map: 'when the message is mapped',
  respond: 'when responses are sent',
  'respond-item': 'when responses are sent',
  record: 'when the message is recorded',
}

/**
 * Checks that what a path reads can exist when it is read.
 *
 * In: the path, and the stage that reads it.
 * Lints, as errors: a root that does not exist at the stage; a constant, lookup, URL parameter or transform that is
 * not defined; what no lookup ever holds, unless it is read for the message's record only. As warnings: other names below a
 * root at which nothing can ever be found.
 */
export function checkPath(path: SourcePath, stage: ReferenceStage, endpoint: Endpoint, lint: LintSink): void {
  checkSteps([nameStep(path.root), ...path.steps], path.names, stage, endpoint, lint)
}

/**
 * The same for an expression.
 *
 * In: the plain names that one of its paths starts with, root first; for a transform its own name, which determines the
 * transforms before it. What no lookup holds is a warning here, since an expression may have conditions.
 */
export function checkReference(
  names: readonly string[],
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  transform?: string,
): void {
  checkSteps(names.map(nameStep), names, stage, endpoint, lint, transform)
}

const nameStep = (name: string): PathStep => ({ kind: 'name', name })

function checkSteps(
  steps: readonly PathStep[],
  [root, ...rest]: readonly string[],
  stage: ReferenceStage,
  endpoint: Endpoint,
  lint: LintSink,
  transform?: string,
): void {
  if (root === undefined) return
  const name = root === 'payload' && isRequest(stage) ? 'requestBody' : root
  if (name === 'item' && stage.endsWith('-item')) return
  if (!existing(stage).includes(name)) {
    reportRoot(name, stage, lint)
    return
  }
  CHECKS[name as Root]?.(rest, endpoint, lint, transform)
  const missed = name === 'lookupRequests' ? missedInLookup(steps, endpoint.requests.lookup) : undefined
  if (missed === undefined) return
  if (stage === 'transform' || stage === 'record') lint.warning(missed)
  else lint.error(missed, { toleratedInStored: true })
}

/** Checks the names below a root. */
type Check = (names: readonly string[], endpoint: Endpoint, lint: LintSink, reader: string | undefined) => void

const CHECKS: Readonly<Partial<Record<Root, Check>>> = {
  constants: checkConstant,
  urlParams: checkUrlParameter,
  lookupRequests: checkLookup,
  transforms: checkTransform,
  requestBody: checkBody,
  requestHeaders: checkHeader,
  state: checkState,
}

const isRequest = (stage: ReferenceStage): boolean => stage !== 'transform' && stage !== 'map' && stage !== 'record'

/** A transform reads the transforms before it too. */
function existing(stage: ReferenceStage): string[] {
  const before = READ_BEFORE[stage]
  const done = STAGE_NAMES.slice(0, before && STAGE_NAMES.indexOf(before))
  const moments: readonly string[] = ['start', ...done, ...(stage === 'transform' ? [stage] : [])]
  return Object.entries(ROOTS).flatMap(([root, moment]) => (moments.includes(moment) ? [root] : []))
}

function reportRoot(root: string, stage: ReferenceStage, lint: LintSink): void {
  const roots = existing(stage)
  if (root === 'payload') {
    lint.error('"payload" is another name for "requestBody" in requests only; write "requestBody" here.')
  } else if (root === 'item') {
    lint.error('"item" exists in the parameters of a request with "forEach" only.')
  } else if (Object.hasOwn(ROOTS, root)) {
    lint.error(`"${root}" does not exist yet ${WHEN[stage]}; what does: ${roots.join(', ')}.`)
  } else {
    const meant = didYouMean(root, [
      ...roots,
      ...(isRequest(stage) ? ['payload'] : []),
      ...(stage.endsWith('-item') ? ['item'] : []),
    ])
    lint.error(
      `"${root}" is no part of a message${meant === '.' ? `; a path begins with one of: ${roots.join(', ')}.` : meant}`,
    )
  }
}

/** Constants are known whole, so a path can be followed as far as it leads through objects. */
function checkConstant([name, ...inner]: readonly string[], { constants }: Endpoint, lint: LintSink): void {
  if (name === undefined || Object.hasOwn(constants, UNKNOWN)) return
  if (!Object.hasOwn(constants, name)) {
    lint.error(`The constant "${name}" is not defined${didYouMean(name, Object.keys(constants))}`)
    return
  }
  let value: Json | undefined = constants[name]
  for (const key of inner) {
    if (!isObject(value)) return
    if (!Object.hasOwn(value, key)) {
      lint.warning(`The constant "${name}" holds no "${key}"${didYouMean(key, Object.keys(value))}`)
      return
    }
    value = value[key]
  }
}

function checkUrlParameter([name]: readonly string[], { endpoint }: Endpoint, lint: LintSink): void {
  const pattern = parseRoutePattern(endpoint.pattern)
  if (name === undefined || !pattern.ok || endpoint.pattern === UNKNOWN_PATTERN) return
  const { parameters } = pattern.value
  if (parameters.includes(name)) return
  lint.error(`"endpoint.pattern" has no parameter "${name}"${didYouMean(name, parameters)}`)
}

function checkLookup([id]: readonly string[], { requests }: Endpoint, lint: LintSink): void {
  const ids = requests.lookup.map((request) => request.id)
  if (id === undefined || ids.includes(UNKNOWN) || ids.includes(id)) return
  lint.error(`There is no lookup with the id "${id}"${didYouMean(id, ids)}`)
}

function checkTransform(
  [name]: readonly string[],
  { inputTransforms = {} }: Endpoint,
  lint: LintSink,
  reader: string | undefined,
): void {
  const defined = Object.keys(inputTransforms)
  if (name === undefined || defined.includes(UNKNOWN)) return
  if (!defined.includes(name)) {
    lint.error(`The transform "${name}" is not defined${didYouMean(name, defined)}`)
  } else if (reader !== undefined && defined.indexOf(name) >= defined.indexOf(reader)) {
    lint.error(`A transform sees those before it only; write "${name}" before "${reader}".`)
  }
}

function checkBody(_names: readonly string[], { endpoint, kafkaConsumerTopic }: Endpoint, lint: LintSink): void {
  const bodiless = endpoint.method === 'GET' || endpoint.method === 'DELETE'
  if (!bodiless || kafkaConsumerTopic !== undefined) return
  lint.warning(`A ${endpoint.method} brings no body: "requestBody" is always empty here.`)
}

function checkHeader([name]: readonly string[], _endpoint: Endpoint, lint: LintSink): void {
  if (name === undefined || name === name.toLowerCase()) return
  lint.warning(`Names of headers are lower case in a message; write "${name.toLowerCase()}".`)
}
