/** Entries of the audit log in words: "Anna published version 4 of Lab orders". */
import type { AuditEntry } from '../../store/sql/audit-store.ts'
import type { Route } from '../route.ts'
import type { Api } from '../services.ts'

export const didByCall = (routes: readonly Route[]): ReadonlyMap<string, string> =>
  new Map(
    routes.flatMap(({ method, path, did }) =>
      did === undefined ? [] : [[`${method} ${path.replace(/:(\w+)/g, '{$1}')}`, did] as const],
    ),
  )

/** Of a dry run of a change, whose entry is otherwise that of the change. */
export const DRY_RUN = 'dry run'

/** Callers without a name. */
const NAMELESS: Readonly<Record<string, string>> = {
  local: 'Somebody on this machine',
  anyone: 'Somebody',
  unknown: 'Somebody without credentials',
}

type Names = Pick<Api, 'endpoints' | 'keys' | 'didOf'>

/** The names are read once each. Fails with STORE_UNAVAILABLE. */
export async function withSentences(entries: readonly AuditEntry[], { endpoints, keys, didOf }: Names) {
  const keyNames = entries.some(({ what }) => what.includes(' /keys'))
    ? new Map((await keys.list()).map(({ id, name }) => [id, name]))
    : undefined
  const found = new Map<string, Promise<string | undefined>>()
  const endpointName = (id: string, before: number | undefined) => {
    const name =
      found.get(id) ??
      endpoints
        .get(id)
        .catch(async () => (await endpoints.versions.get(id, before ?? 0)).document)
        .then((document) => document?.name as string | undefined)
        // Of an endpoint that was deleted long ago only the id is left.
        .catch(() => undefined)
    found.set(id, name)
    return name
  }
  const targetOf = async ({ what, target, before }: AuditEntry): Promise<string> => {
    const isEndpoint = what.includes(' /endpoints')
    if (target === undefined) return isEndpoint ? 'an endpoint' : ''
    if (isEndpoint) return (await endpointName(target, before)) ?? `endpoint ${target}`
    return keyNames?.get(target) ?? target
  }
  return Promise.all(
    entries.map(async (entry) => {
      const { who, name, what, status, code, after, note } = entry
      const caller = name ?? NAMELESS[who] ?? who.replace(/^\w+:/, '')
      const did = didOf(what)
      const sentence = async () => {
        if (status === 0) return `ran "${what}"`
        if (status >= 400) return `asked for ${what} and was answered ${[status, code].filter(Boolean).join(' ')}`
        if (did === undefined) return `called ${what}`
        const done = did
          .replace('{target}', await targetOf(entry))
          .replace('{after}', String(after ?? ''))
          .trim()
        return note === DRY_RUN ? `tried, without a change: ${done}` : done
      }
      return { ...entry, sentence: `${caller} ${await sentence()}` }
    }),
  )
}
