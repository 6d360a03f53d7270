/** Warns of names that the format of the output cannot have, since each would fail a message, and refuses targets that it never has. */
import type { LintSink } from '../../core/lint.ts'
import type { Codec } from '../../formats/codec.ts'
import { codecForFormat, codecForSending } from '../../formats/codecs.ts'
import { parseTarget } from '../../language/mapping/target.ts'
import { type Endpoint, isPrimary } from '../schema/schema.ts'
import { UNKNOWN } from '../schema/schema-fields.ts'
import { faultOfTarget } from './format-paths.ts'
import { listEntryTargets } from './warnings/mapping-lists.ts'

/** Lints, as errors: mapping targets of a shape that the format never has. As warnings: names of mapping targets; ids of lookups in the output, ids of responses in the answer. */
export function lintOutputNames(endpoint: Endpoint, lint: LintSink): void {
  const { inputMapping, requests, transformation } = endpoint
  const output = codecForFormat(transformation.output, endpoint)
  for (const codec of new Set([output, ...requests.response.flatMap((request) => sentAs(request, endpoint))])) {
    lintTargets(inputMapping, codec, lint.at('inputMapping'))
    if (Object.keys(inputMapping).length === 0) lintIds(requests.lookup, codec, lint.at('requests', 'lookup'))
  }
  const alone = requests.response.length === 1 || requests.response.some(isPrimary)
  const aggregated = !alone || requests.response.some(({ forEach }) => forEach !== undefined)
  if (aggregated) lintIds(requests.response, output, lint.at('requests', 'response'))
}

/** The format of the request's own Content-Type, if it has one. */
function sentAs({ config }: Endpoint['requests']['response'][number], endpoint: Endpoint): readonly Codec[] {
  const own = Object.entries(config?.headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')
  const codec = codecForSending(own?.[1], endpoint)
  return codec === undefined ? [] : [codec]
}

function lintTargets(inputMapping: Endpoint['inputMapping'], codec: Codec, lint: LintSink): void {
  for (const [source, target] of Object.entries(inputMapping)) {
    const names = new Set(listEntryTargets(target).flatMap(({ key }) => targetNames(key)))
    for (const name of names) {
      if (name !== '' && !codec.markers.includes(name)) lintName(name, codec, lint.at(source))
    }
    if (codec.pathFault !== undefined) lintShape(target, codec, lint.at(source))
  }
}

function lintShape(target: Endpoint['inputMapping'][string], codec: Codec, lint: LintSink): void {
  for (const { key } of listEntryTargets(target)) {
    const parsed = parseTarget(key)
    const fault = parsed.ok ? faultOfTarget(codec, parsed.value.steps, parsed.value.takesNull) : undefined
    if (fault !== undefined) lint.error(fault)
  }
}

function lintIds(requests: readonly Readonly<{ id: string }>[], codec: Codec, lint: LintSink): void {
  requests.forEach(({ id }, index) => {
    if (id !== UNKNOWN) lintName(id, codec, lint.at(index, 'id'))
  })
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
