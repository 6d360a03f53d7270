/** What a path below the root `state` can find: what `state.extract` names, and what is kept of every message. */
import { isObject } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import { didYouMean } from '../../domain/nearest.ts'
import type { Endpoint } from '../schema/schema.ts'

const EXTRACTED: readonly string[] = ['requestBody', 'responseBody', 'query', 'lookupRequests']
/** Single values. */
const OF_LOOKUPS: readonly string[] = ['lookupHttpStatus', 'lookupNetworkError']
const PARTS: readonly string[] = [...EXTRACTED, ...OF_LOOKUPS, 'system']

/** In: the names below `state`. Lints, as warnings: those at which nothing can ever be found. */
export function checkState([part, ...rest]: readonly string[], { state }: Endpoint, lint: LintSink): void {
  if (part === undefined || part === 'system') return
  if (!PARTS.includes(part)) {
    lint.warning(`A state holds no "${part}"${didYouMean(part, PARTS)}`)
  } else if (EXTRACTED.includes(part)) {
    checkExtracted([part, ...rest], state, lint)
  } else if (rest[0] !== undefined) {
    lint.warning(`"state.${part}" holds no "${rest[0]}".`)
  }
}

function checkExtracted(names: readonly string[], state: Endpoint['state'], lint: LintSink): void {
  let place = 'state.extract'
  let level: unknown = state.extract
  for (const name of names) {
    if (typeof level === 'string') return
    if (!isObject(level) || !Object.hasOwn(level, name)) {
      lint.warning(`"${place}" keeps no "${name}"${didYouMean(name, isObject(level) ? Object.keys(level) : [])}`)
      return
    }
    level = level[name]
    place += `.${name}`
  }
}
