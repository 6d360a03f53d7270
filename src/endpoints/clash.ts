/** Finds active endpoints with the same name, or with a route that matches the same paths. */
import { collectInto, type Lint } from '../core/lint.ts'
import type { StoreClash } from '../store/sql/endpoint-writes.ts'
import type { ActiveEndpoints } from './active-endpoints.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'

/**
 * Each lint names the other endpoint, by `nameOf` where its name is taken. The unique keys of the store decide in the end.
 */
export function findClashes(
  compiled: CompiledEndpoint,
  active: Pick<ActiveEndpoints, 'rivalsOf'>,
  nameOf = ({ document }: CompiledEndpoint): string => `The endpoint ${document._id}`,
): readonly Lint[] {
  const { document, routeKey } = compiled
  const lints: Lint[] = []
  const lint = collectInto(lints)
  for (const other of active.rivalsOf(compiled)) {
    if (other.document.name === document.name) {
      lint.at('name').error(`${nameOf(other)} has this name already; choose another one.`)
    }
    if (other.routeKey === routeKey) {
      const { method, pattern } = other.endpoint.endpoint
      lint
        .at('endpoint', 'pattern')
        .error(
          `"${other.document.name}" (${method} ${pattern}) answers the same paths already; change the pattern or the method.`,
        )
    }
  }
  return lints
}

/** A document without a sound name or route has stand-ins for them, which clash with nothing. */
export const hasOwnPlace = (lints: readonly Lint[]): boolean =>
  !lints.some(({ path, severity }) => severity === 'error' && (path === '' || /^(name|endpoint)\b/.test(path)))

export const storeClash = (clash: StoreClash): Lint =>
  clash === 'name'
    ? { path: 'name', message: 'Another endpoint has this name already; choose another one.', severity: 'error' }
    : {
        path: 'endpoint.pattern',
        message: 'Another endpoint answers the same paths already; change the pattern or the method.',
        severity: 'error',
      }
