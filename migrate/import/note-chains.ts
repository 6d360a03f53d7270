/** Notes of endpoints that are there to look up other endpoints: in the peer, no lookup could read the answer of another one. */
import { isObject, type Json } from '../../src/core/json.ts'
import { splitPattern, variableName } from '../../src/language/route-pattern.ts'
import { listRequests } from './convert-requests.ts'
import { leadsToPeer, type UrlContext } from './convert-urls.ts'
import { type DocumentPart, toText } from './draft.ts'
import type { FoundDocument } from './found-records.ts'

/** In: a document, with its URLs as the peer had them. Notes its lookups if all lead to other endpoints of the import and nothing is sent on. */
export function noteChains(
  root: DocumentPart,
  found: FoundDocument,
  all: readonly FoundDocument[],
  urls: UrlContext,
): void {
  const lookups = listRequests(root, 'lookup')
  if (listRequests(root, 'response').length > 0) return
  const others = all.filter((other) => other !== found)
  const targets = lookups.map((lookup) => {
    const url = lookup.at('config', 'url').value
    const isOwn = typeof url === 'string' && leadsToPeer(url.trim(), urls)
    return isOwn ? others.find(({ document }) => isRouteOf(url, document.endpoint)) : undefined
  })
  if (targets.includes(undefined)) return
  for (const [index, lookup] of lookups.entries()) {
    const name = toText(targets[index]?.document.name)
    lookup.note(
      'carried',
      `This looks up the endpoint "${name}" of the same import. Here, a lookup can read the answers of others, so that one document can make the requests of both.`,
    )
  }
}

/** Parameters of the URL and of the pattern stand for any segment. */
function isRouteOf(url: string, endpoint: Json | undefined): boolean {
  const pattern = isObject(endpoint) ? endpoint.pattern : undefined
  if (typeof pattern !== 'string') return false
  const path = /^[^:]*:\/\/[^/?#]*([^?#]*)/.exec(url.trim())?.[1] ?? ''
  const [called, routed] = [splitPattern(path || '/'), splitPattern(pattern)]
  return (
    called.length === routed.length &&
    called.every((segment, at) => {
      const other = routed[at] ?? ''
      return segment === other || variableName(segment) !== undefined || variableName(other) !== undefined
    })
  )
}
