/** The paths that a document reads of its messages, each with the places in the document that read it. */
import type { Endpoint } from '../config/schema/schema.ts'
import { documentPath } from '../domain/lint.ts'
import { readsOf } from '../language/jsonata/expression-analysis.ts'
import { parseTree } from '../language/jsonata/expression-engine.ts'
import { type PathStep, parsePath, type SourcePath } from '../language/paths/path.ts'
import { pathText } from '../language/paths/path-steps.ts'

/** `readBy`: places in the document, such as `inputMapping.requestBody\.nr`. */
export type DocumentRead = Readonly<{ path: SourcePath; readBy: readonly string[] }>

/** `isWhole`: an expression may read anything, so that nothing can be called unread. */
export type DocumentReads = Readonly<{ reads: readonly DocumentRead[]; isWhole: boolean }>

type Found = Readonly<{ text: string; place: string }>

/**
 * In: a document without faults. Out: each path once, `payload` as `requestBody`. Paths within the items of a `forEach` are
 * left out: the items are read whole. A schema and the headers that authenticate a sender are not reads.
 */
export function readsOfDocument(endpoint: Endpoint): DocumentReads {
  const expressions = Object.entries(endpoint.inputTransforms ?? {}).map(([name, text]) => ({
    place: documentPath('inputTransforms', name),
    ...readsOf(parseTree(text)),
  }))
  const found = [
    ...readsOfRequests(endpoint),
    ...expressions.flatMap(({ place, references }) =>
      references.map((names) => ({ text: pathText(names.map((name) => ({ kind: 'name', name }))), place })),
    ),
    ...readsOfMapping(endpoint),
    ...readsOfState(endpoint),
    ...placed('', 'messageKeys', endpoint.messageKeys),
  ]
  const places = new Map<string, { path: SourcePath; readBy: string[] }>()
  for (const { text, place } of found) {
    const path = parsePath(/^payload(?=$|[.[])/.test(text) ? `requestBody${text.slice('payload'.length)}` : text)
    if (!path.ok) continue
    const known = places.get(path.value.text)
    if (known === undefined) places.set(path.value.text, { path: path.value, readBy: [place] })
    else if (!known.readBy.includes(place)) known.readBy.push(place)
  }
  return { reads: [...places.values()], isWhole: expressions.some(({ roots }) => roots === undefined) }
}

/** Whether the path leads to the headers of a lookup: few documents read them, and each answer has many. */
export function isLookupHeaders(steps: readonly PathStep[]): boolean {
  const [root, , each] = steps
  const last = steps.at(-1)
  return (
    steps.length === (each?.kind === 'each' ? 4 : 3) &&
    root?.kind === 'name' &&
    root.name === 'lookupRequests' &&
    last?.kind === 'name' &&
    last.name === 'headers'
  )
}

function readsOfRequests({ requests }: Endpoint): readonly Found[] {
  return (['lookup', 'response'] as const).flatMap((kind) =>
    requests[kind].flatMap((request, index): readonly Found[] => {
      const place = documentPath('requests', kind, index)
      const { config, forEach } = request
      const parameters = (['query', 'url'] as const).flatMap((part) =>
        Object.entries(config?.params?.[part] ?? {}).map(([name, { path }]) => ({
          text: path,
          place: documentPath(place, 'config', 'params', part, name),
        })),
      )
      const forwards = 'forwardExistingRequestBody' in request && request.forwardExistingRequestBody === true
      const key = 'key' in request ? request.key : undefined
      return [
        ...parameters,
        ...(forEach === undefined ? [] : [{ text: forEach.items, place: documentPath(place, 'forEach') }]),
        ...(forwards ? [{ text: 'requestBody', place: documentPath(place, 'forwardExistingRequestBody') }] : []),
        ...(key === undefined ? [] : [{ text: key.path, place: documentPath(place, 'key') }]),
      ]
    }),
  )
}

/** Without a mapping the output is the body as it came, and the answers of lookups. */
function readsOfMapping({ inputMapping, requests }: Endpoint): readonly Found[] {
  const texts = Object.keys(inputMapping)
  if (texts.length > 0) return texts.map((text) => ({ text, place: documentPath('inputMapping', text) }))
  const roots = requests.lookup.length === 0 ? ['requestBody'] : ['requestBody', 'lookupRequests']
  return roots.map((text) => ({ text, place: 'inputMapping' }))
}

function readsOfState({ state }: Endpoint): readonly Found[] {
  const { requestBody, query, lookupRequests } = state.extract ?? {}
  return [
    ...placed('requestBody', 'state.extract.requestBody', requestBody),
    ...placed('query', 'state.extract.query', query),
    ...Object.entries(lookupRequests ?? {}).flatMap(([id, paths]) =>
      placed(
        pathText(['lookupRequests', id, 'data'].map((name) => ({ kind: 'name', name }))),
        documentPath('state.extract.lookupRequests', id),
        paths,
      ),
    ),
  ]
}

/** The paths below `base`, each with its place below `place`. */
function placed(base: string, place: string, paths: Readonly<Record<string, string>> = {}): readonly Found[] {
  return Object.entries(paths).map(([name, text]) => ({
    text: base === '' || text.startsWith('[') ? `${base}${text}` : `${base}.${text}`,
    place: documentPath(place, name),
  }))
}
