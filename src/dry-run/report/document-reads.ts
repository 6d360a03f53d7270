/** The paths that a document reads of its messages besides its mapping. */
import type { Endpoint } from '../../config/schema/schema.ts'
import { readsOf } from '../../language/jsonata/expression-analysis.ts'
import { parseTree } from '../../language/jsonata/expression-engine.ts'
import { parsePath, type SourcePath } from '../../language/paths/path.ts'
import { escaped } from './read-recorder.ts'

/** `isWhole`: an expression may read anything, so that nothing can be called unread. */
export type DocumentReads = Readonly<{ paths: readonly SourcePath[]; isWhole: boolean }>

/** In: a document without faults. Paths within the items of a `forEach` are left out: the items are read whole. */
export function readsOfDocument({ requests, inputTransforms, state, messageKeys }: Endpoint): DocumentReads {
  const expressions = Object.values(inputTransforms ?? {}).map((text) => readsOf(parseTree(text)))
  const { requestBody, query, lookupRequests } = state.extract ?? {}
  const texts = [
    ...[...requests.lookup, ...requests.response].flatMap(({ config, forEach }) => [
      ...Object.values(config?.params?.query ?? {}).map(({ path }) => path),
      ...Object.values(config?.params?.url ?? {}).map(({ path }) => path),
      ...(forEach === undefined ? [] : [forEach.items]),
    ]),
    ...requests.lookup.flatMap((one) => (one.forwardExistingRequestBody === true ? ['requestBody'] : [])),
    ...requests.response.flatMap(({ key }) => (key === undefined ? [] : [key.path])),
    ...expressions.flatMap(({ references }) => references.map((names) => names.map(escaped).join('.'))),
    ...below('requestBody', requestBody),
    ...below('query', query),
    ...Object.entries(lookupRequests ?? {}).flatMap(([id, paths]) =>
      below(`lookupRequests.${escaped(id)}.data`, paths),
    ),
    ...Object.values(messageKeys ?? {}),
  ]
  const paths = texts
    .map((text) => (/^payload(?=$|[.[])/.test(text) ? `requestBody${text.slice('payload'.length)}` : text))
    .flatMap((text) => {
      const parsed = parsePath(text)
      return parsed.ok ? [parsed.value] : []
    })
  return { paths, isWhole: expressions.some(({ roots }) => roots === undefined) }
}

const below = (base: string, paths: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.values(paths).map((path) => (path.startsWith('[') ? `${base}${path}` : `${base}.${path}`))
