/** The systems that the endpoints of the comparison call. What they answer depends on the request alone, so that both services get the same. */
import type { Answering } from '../../support/service.ts'

type Unit = Readonly<{ id: string; name?: string }>

const UNITS: Readonly<Record<string, readonly Unit[]>> = {
  '1': [{ id: 'u1', name: 'Ngelehun' }, { id: 'u2', name: 'Bo "East"' }, { id: 'u3' }],
  '2': [{ id: 'u4', name: 'Kenema' }],
}

/** The last segment, or `act` of the body, asks for a special answer. */
const SPECIAL: Readonly<Record<string, Answering>> = {
  missing: (_request, response) =>
    plain(response, 404, 'application/json', '{"message":"not there","error":"no such"}'),
  broken: (_request, response) => plain(response, 500, 'application/json', '{"message":"out of order"}'),
  away: (_request, response) => void response.destroy(),
  text: (_request, response) => plain(response, 200, 'text/plain', 'plain words'),
  html: (_request, response) => plain(response, 200, 'text/html', '<p>words</p>'),
  empty: (_request, response) => plain(response, 200, undefined, ''),
  nothing: (_request, response) => plain(response, 204, undefined, ''),
  array: (_request, response) => plain(response, 200, 'application/json', '[{"name":"a"},{"name":"b"}]'),
  number: (_request, response) => plain(response, 200, 'application/json', '17'),
  untyped: (_request, response) => plain(response, 200, undefined, '{"name":"no type"}'),
  created: (_request, response) => plain(response, 201, 'application/json', '{"created":true}'),
  invalid: (_request, response) => plain(response, 400, 'application/fhir+json', '{"resourceType":"OperationOutcome"}'),
}

export const answerUpstream: Answering = (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://upstream.test')
  const segments = pathname.split('/')
  const last = decoded(segments.at(-1) ?? '')
  const body = request.body === '' ? undefined : JSON.parse(request.body)
  const special = SPECIAL[last] ?? SPECIAL[body?.act]
  if (special !== undefined) return special(request, response)
  switch (segments[1]) {
    case 'units.json':
      return { units: UNITS[searchParams.get('page') ?? ''] ?? [] }
    case 'districts':
      return { name: `District ${last}`, asked: searchParams.get('filter') }
    case 'people':
      return { name: `Person ${last}`, asked: searchParams.get('by') }
    case 'changes':
      return { total: 3, asked: Object.fromEntries(searchParams) }
    case 'link':
      response.setHeader('x-index', 'main')
      return { uid: 'p-1', score: 0.75, echo: body ?? null }
    default:
      response.setHeader('x-target', segments[1] ?? '')
      return { accepted: body ?? null, method: request.method, last, asked: Object.fromEntries(searchParams) }
  }
}

/** The peer sends "%" as it is. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function plain(response: Parameters<Answering>[1], status: number, type: string | undefined, body: string): undefined {
  response.writeHead(status, type === undefined ? {} : { 'content-type': type })
  response.end(body)
}
