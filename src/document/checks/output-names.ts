/** What the format of the output cannot hold: names and targets, of which each would fail a message, and several answers as one. */
import type { Json } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { Unwritable } from '../../formats/body-faults.ts'
import type { Codec } from '../../formats/codec.ts'
import { CODECS, codecForFormat, codecForSending } from '../../formats/codecs.ts'
import { listNestedEntries, type NestedEntry } from '../../language/mapping/nested-entries.ts'
import { parseTarget, type TargetStep } from '../../language/mapping/target.ts'
import { listMappings } from '../reads/document-mappings.ts'
import {
  answerFormat,
  type Endpoint,
  isPrimary,
  type LookupRequest,
  mapsAnswer,
  possibleSoles,
  type ResponseRequest,
} from '../schema/schema.ts'
import { UNKNOWN } from '../schema/schema-fields.ts'
import { faultOfTarget } from './format-paths.ts'
import { listEntryTargets } from './warnings/mapping-lists.ts'

/**
 * Lints, as errors: an output or answer that no message can have, and mapping targets of a shape that the format never has. As
 * warnings: names of mapping targets; ids of lookups in the output, ids of responses in the answer; a `Content-Type` that the output
 * cannot be sent as.
 */
export function lintOutputNames(endpoint: Endpoint, lint: LintSink): void {
  const { inputMapping, requests, transformation } = endpoint
  const output = codecForFormat(transformation.output, endpoint)
  const sentAsOutput = requests.response.filter(({ mapping }) => mapping === undefined)
  for (const codec of new Set([output, ...sentAsOutput.flatMap((request) => sentAs(request, endpoint))])) {
    lintTargets(inputMapping, codec, lint.at('inputMapping'))
    if (Object.keys(inputMapping).length > 0) continue
    lintIds(requests.lookup, codec, lint.at('requests', 'lookup'))
    if (requests.lookup.length > 0) {
      const what = 'Without a mapping, the output is { "requestBody", "lookupRequests" }.'
      lintForm(['requestBody', 'lookupRequests'], what, codec, lint.at('inputMapping'))
    }
  }
  for (const { entries, at, request } of listMappings(endpoint)) {
    if (at[0] === 'inputMapping') continue
    const answered = codecForFormat(answerFormat(endpoint), endpoint)
    const [codec = at[1] === 'lookup' ? CODECS.json : output] =
      request === undefined ? [answered] : sentAs(request, endpoint)
    lintTargets(entries, codec, lint.at(...at))
  }
  requests.response.forEach((request, index) => {
    const at = lint.at('requests', 'response', index, 'config', 'headers')
    for (const codec of sentAs(request, endpoint)) if (codec !== output) lintSentAs(request, endpoint, codec, at)
  })
  const alone =
    requests.response.length === 1 ||
    requests.response.some((request) => isPrimary(request) && request.when === undefined)
  const aggregated = !alone || requests.response.some(({ forEach }) => forEach !== undefined)
  if (!aggregated || requests.response.length === 0 || mapsAnswer(endpoint)) return
  lintIds(requests.response, output, lint.at('requests', 'response'))
  // Of requests with `when`, each message may have one alone.
  if (requests.response.some(({ when }) => when !== undefined) && possibleSoles(endpoint).length > 0) return
  const ids = requests.response.map(({ id }) => id)
  const what = 'The answer is an object with the answers of all requests, unless one is primary.'
  lintForm(ids, what, output, lint.at('requests', 'response'))
}

/** The format of the request's own Content-Type, if it has one. */
function sentAs({ config }: LookupRequest | ResponseRequest, endpoint: Endpoint): readonly Codec[] {
  const own = Object.entries(config?.headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')
  const codec = codecForSending(typeof own?.[1] === 'string' ? own[1] : undefined, endpoint)
  return codec === undefined ? [] : [codec]
}

/** Lints the request's own Content-Type if the output of the mapping can never be written as that. */
function lintSentAs(request: ResponseRequest, endpoint: Endpoint, codec: Codec, lint: LintSink): void {
  const { config, forEach, mapping } = request
  const isMapped = forEach === undefined || mapping !== undefined
  const sendsOutput = isMapped && config?.method !== 'GET' && config?.method !== 'HEAD'
  const targets = Object.values(mapping ?? endpoint.inputMapping).flatMap((target) => listEntryTargets(target))
  if (!sendsOutput || targets.length === 0) return
  const parsed = targets.map(({ key }) => parseTarget(key))
  if (!parsed.every(({ ok }) => ok)) return
  const faults = LEAVES.map((leaf) => {
    const members = parsed.flatMap((target) => (target.ok ? [sampleMember(target.value.steps, leaf, codec)] : []))
    return buildFault(Object.fromEntries(members), codec)
  })
  const [first] = faults
  if (first === undefined || faults.includes(undefined)) return
  const advice = `map to what ${codec.name} holds, or leave this Content-Type out to send ${endpoint.transformation.output}`
  lint.warning(`Messages fail, since this Content-Type sends the output as ${codec.name}; ${advice}. ${first}`)
}

/** What a mapping may find, to try with. */
const LEAVES: readonly Json[] = ['', {}, []]

/** What a target writes: the name of the member and its value. Names that the format cannot have are linted one by one. */
function sampleMember([first, ...rest]: readonly TargetStep[], leaf: Json, codec: Codec): [name: string, value: Json] {
  const soundName = (step: TargetStep | undefined): string =>
    step?.kind === 'name' && codec.keyFault(step.name) === undefined ? step.name : 'name'
  const value = rest.reduceRight<Json>(
    (inner, step) => (step.kind === 'name' ? { [soundName(step)]: inner } : [inner]),
    leaf,
  )
  return [soundName(first), value]
}

function lintTargets(inputMapping: Endpoint['inputMapping'], codec: Codec, lint: LintSink): void {
  for (const entry of listNestedEntries(inputMapping)) {
    const sink = lint.at(...entry.at)
    const names = new Set(listEntryTargets(entry.declared).flatMap(({ key }) => targetNames(key)))
    for (const name of names) {
      if (name !== '' && !codec.markers.includes(name)) lintName(name, codec, sink)
    }
    if (codec.pathFault !== undefined) lintShape(entry, codec, sink)
  }
}

function lintShape({ declared, outer }: NestedEntry, codec: Codec, lint: LintSink): void {
  for (const { key } of listEntryTargets(declared)) {
    const parsed = parseTarget(key)
    const fault = parsed.ok ? faultOfTarget(codec, parsed.value.steps, parsed.value.takesNull, outer) : undefined
    if (fault !== undefined) lint.error(fault)
  }
}

function lintIds(requests: readonly Readonly<{ id: string }>[], codec: Codec, lint: LintSink): void {
  requests.forEach(({ id }, index) => {
    if (id !== UNKNOWN) lintName(id, codec, lint.at(index, 'id'))
  })
}

/** Lints an object that the format cannot hold, whatever its members are. Faults of their names are reported one by one. */
function lintForm(names: readonly string[], what: string, codec: Codec, lint: LintSink): void {
  if (names.includes(UNKNOWN)) return
  const sound = names.map((name, index) => (codec.keyFault(name) === undefined ? name : `name${index}`))
  const faults = ['', {}].map((member) => buildFault(Object.fromEntries(sound.map((name) => [name, member])), codec))
  if (faults[0] !== undefined && faults[1] !== undefined) lint.error(`${what} ${faults[0]}`)
}

/** Why the format cannot hold a value, as a sentence. */
function buildFault(value: Json, codec: Codec): string | undefined {
  try {
    codec.build(value)
    return undefined
  } catch (thrown) {
    if (thrown instanceof Unwritable) return thrown.message
    throw thrown
  }
}

function lintName(name: string, codec: Codec, lint: LintSink): void {
  const fault = codec.keyFault(name)
  if (fault !== undefined) lint.warning(fault)
}

/** The names in a target, without brackets, a last `+` or `?`, and the escapes of dots. */
const targetNames = (text: string): string[] =>
  text
    .replace(/\?$/, '')
    .split(/(?<!\\)\./)
    .map((part) => part.replace(/(?:\[[0-9]*\])+\+?$/, '').replaceAll('\\.', '.'))
