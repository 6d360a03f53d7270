/** Paths of requests: parameters and `forEach.items`. The peer read them in another way than the sources of a mapping. */
import { checkPath } from '../../../config/checks/path-roots.ts'
import { type Endpoint, hasBody } from '../../../config/schema/schema.ts'
import type { ReferenceStage } from '../../../config/schema/schema-fields.ts'
import { isObject } from '../../../domain/json.ts'
import { collectInto, type Lint } from '../../../domain/lint.ts'
import { parsePath } from '../../../language/paths/path.ts'
import { type DocumentPart, textOf } from '../draft.ts'
import { type Lookup, type LookupForm, withData } from '../lookup-paths.ts'
import type { RequestGroup } from './convert-requests.ts'

/** Roots that a parameter could have there. With any other one, every message failed. */
const PEER_ROOTS: ReadonlySet<string> = new Set(
  'payload query transforms state lookupRequests responseBody urlParams constants timestamps item'.split(' '),
)

export type PathContext = Readonly<{ form: LookupForm; lookups: readonly Lookup[]; endpoint: Endpoint }>

export function convertRequestPaths(request: DocumentPart, kind: RequestGroup, context: PathContext): void {
  const hasItems = request.at('forEach').value !== undefined
  const before = kind === 'lookup' ? 'lookup' : 'respond'
  const items = request.at('forEach', 'items')
  if (items.value !== undefined) {
    convertPath(items, kind, context)
    if (isNothing(items, before, context)) {
      request.remove({
        level: 'lost',
        reason:
          'There is nothing at the path of "forEach.items", so that every message failed there; here messages go on without this request.',
      })
      return
    }
  }
  const stage = hasItems ? (`${before}-item` as const) : before
  for (const place of ['query', 'url'] as const) {
    const parameters = request.at('config', 'params', place)
    if (!isObject(parameters.value)) continue
    for (const parameter of parameters.parts()) convertParameter(parameter, kind, stage, context)
  }
}

function convertParameter(
  parameter: DocumentPart,
  kind: RequestGroup,
  stage: ReferenceStage,
  context: PathContext,
): void {
  const path = parameter.at('path')
  if (typeof path.value !== 'string' || path.value === '') {
    parameter.remove({ level: 'lost', reason: 'A parameter without a path made every message fail there.' })
    return
  }
  for (const affix of [parameter.at('prefix'), parameter.at('postfix')]) {
    if (affix.value === undefined || typeof affix.value === 'string') continue
    if (affix.value === false || affix.value === 0)
      affix.remove({ level: 'changed', reason: 'The value had no effect there.' })
    else affix.set(textOf(affix.value), { level: 'changed', reason: 'The value is a text.' })
  }
  const [root = ''] = path.value.trim().split('.')
  if (root === 'payload' && stage === 'lookup' && !hasBody(context.endpoint)) {
    parameter.remove({
      level: 'changed',
      reason: 'A message of this method has no body, so the parameter had no effect there; a ":name" is sent as it is.',
    })
    return
  }
  convertPath(path, kind, context)
  if (!isNothing(path, stage, context)) {
    if (PEER_ROOTS.has(root)) return
    path.note({
      level: 'differs',
      reason: `The parameter works here. There every message failed: parameters could not read "${root}".`,
    })
  } else if (PEER_ROOTS.has(root)) {
    parameter.remove({
      level: 'changed',
      reason: 'There is nothing at this path when the request is made, so the parameter had no effect there.',
    })
  } else {
    parameter.remove({ level: 'lost', reason: 'A message has no such part, so that every message failed there.' })
  }
}

/** The peer read a root alone as a field of that name below the root. */
function convertPath(path: DocumentPart, kind: RequestGroup, { form, lookups }: PathContext): void {
  const { value } = path
  if (typeof value !== 'string') return
  const trimmed = value.trim()
  if (trimmed !== value) path.set(trimmed, { level: 'changed', reason: 'Spaces around a path are not part of it.' })
  const joined = trimmed.replaceAll('.[', '[')
  if (joined !== trimmed) path.set(joined, { level: 'changed', reason: 'No dot stands before a bracket here.' })
  if (PEER_ROOTS.has(trimmed) && trimmed !== 'item') {
    path.set(`${trimmed}.${trimmed}`, {
      level: 'changed',
      reason: 'That service read this path as the field of that name in it.',
    })
    return
  }
  const moved = form === 'bare' && kind === 'response' ? withData(joined, lookups) : undefined
  if (moved !== undefined) path.set(moved, { level: 'changed', reason: 'The data of a lookup is under "data" here.' })
}

function isNothing({ value }: DocumentPart, stage: ReferenceStage, { endpoint }: PathContext): boolean {
  const path = parsePath(String(value))
  if (!path.ok) return true
  const lints: Lint[] = []
  checkPath(path.value, stage, endpoint, collectInto(lints))
  return lints.some(({ severity }) => severity === 'error')
}
