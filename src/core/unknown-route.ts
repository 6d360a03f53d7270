/** The sentence about a request that no endpoint listens to, and the route that an endpoint would need to take it. */
import { ENDPOINT_METHODS } from './http.ts'
import { MASK } from './secrets/secrets.ts'

export const unknownRoute = (method: string, path: string): string => `No endpoint listens on ${method} ${path}.`

type EndpointMethod = (typeof ENDPOINT_METHODS)[number]
export type NeededRoute = Readonly<{ method: EndpointMethod; pattern: string }>

/**
 * In: the sentence of a record. Out: the route with a parameter for each masked segment; undefined of any other sentence, of a
 * method that endpoints do not have, and of a path that was cut or that a pattern would read otherwise.
 */
export function readUnknownRoute(sentence: string): NeededRoute | undefined {
  const [, given, path] = /^No endpoint listens on ([A-Z]+) (\/\S*)\.$/.exec(sentence) ?? []
  const method = ENDPOINT_METHODS.find((one) => one === given)
  if (method === undefined || path === undefined) return undefined
  const segments = path.slice(1).split('/')
  if (segments.some((one) => one !== MASK && !/^[\w.-]+$/.test(one))) return undefined
  let count = 0
  return { method, pattern: `/${segments.map((one) => (one === MASK ? `:part${++count}` : one)).join('/')}` }
}
