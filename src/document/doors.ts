/** What the doors read of a document: the field that opens each, and what an endpoint claims there. A new door is one row. */
import { takesBody } from '../core/http.ts'
import type { JsonObject } from '../core/json.ts'
import { DOORS, type Door } from '../core/origin.ts'
import { parseRoutePattern } from '../language/route-pattern.ts'
import type { Endpoint } from './schema/schema.ts'

/** What an endpoint takes for itself at a door: no two active endpoints have a claim with the same key. */
export type Claim = Readonly<{
  /** Starts with the door, so that claims at two doors differ. */
  key: string
  /** The field that makes the claim. */
  path: string
  /** The claim as people read it, such as `POST /patients/:id`. */
  shown: string
  /** The end of the sentence for a second endpoint with this claim: what the first one does, and what to change. */
  taken: string
}>

type DocumentDoor = Readonly<{
  /** The field that opens the door. */
  field: string
  isOpen(endpoint: Endpoint): boolean
  /** Where messages have a body: the end of the sentence that asks for its type. */
  body(endpoint: Endpoint): string | undefined
  /** What the endpoint claims if the door is open. Doors at which endpoints may share everything have none. */
  claims?(endpoint: Endpoint): readonly Omit<Claim, 'path'>[]
  /** Where the claims do not show it: what brings the messages, as people name it. */
  shows?(endpoint: Endpoint): string
  /** That is a topic, to which other endpoints may produce. */
  isTopic?: true
}>

export const DOCUMENT_DOORS: Readonly<Record<Door, DocumentDoor>> = {
  http: {
    field: 'endpoint.pattern',
    isOpen: ({ endpoint: { pattern } }) => pattern !== undefined,
    body: ({ endpoint: { method } }) =>
      takesBody(method) ? `for ${method}: say which type of message comes in.` : undefined,
    claims: ({ endpoint: { method, pattern = '' } }) => {
      const parsed = parseRoutePattern(pattern)
      if (!parsed.ok) return []
      return [
        {
          key: `http ${parsed.value.routeKey(method)}`,
          shown: `${method} ${pattern}`,
          taken: 'answers the same paths already; change the pattern or the method.',
        },
      ]
    },
  },
  kafka: {
    field: 'kafkaConsumerTopic',
    isOpen: ({ kafkaConsumerTopic }) => kafkaConsumerTopic !== undefined,
    body: () => 'where a topic is consumed: say which type of message its records hold.',
    shows: ({ kafkaConsumerTopic = '' }) => kafkaConsumerTopic,
    isTopic: true,
  },
  mllp: {
    field: 'mllp',
    isOpen: ({ mllp }) => mllp !== undefined,
    body: () => 'where MLLP brings messages: say which type of message a frame holds.',
    claims: ({ mllp: { port, types = [''] } = { port: 0 } }) =>
      [...new Set(types)].map((type) => ({
        key: `mllp ${port} ${type}`,
        shown: `${type === '' ? 'all other types' : type} on MLLP port ${port}`,
        taken: 'takes the same messages already; change the types or the port.',
      })),
  },
  schedule: {
    field: 'schedule',
    isOpen: ({ schedule }) => schedule !== undefined,
    body: () => undefined,
    shows: ({ schedule: { every, cron = '', timezone = 'UTC' } = {} }) =>
      every === undefined ? `${cron} ${timezone}` : `every ${every}`,
  },
}

const ROWS = Object.values(DOCUMENT_DOORS)

/** What the endpoint claims at all of its doors. A field with a fault claims nothing. */
export const readClaims = (endpoint: Endpoint): readonly Claim[] =>
  ROWS.flatMap(({ field, isOpen, claims }) =>
    isOpen(endpoint) ? (claims?.(endpoint) ?? []).map((claim) => ({ ...claim, path: field })) : [],
  )

/** What brings messages to an endpoint: the field that says so, and the route, topic, port or times. */
export type Entrance = Readonly<{ door: Door; path: string; name: string; isTopic: boolean }>

export const listEntrances = (endpoint: Endpoint): readonly Entrance[] =>
  (Object.keys(DOCUMENT_DOORS) as Door[]).flatMap((door) => {
    const { field: path, isOpen, claims, shows, isTopic = false } = DOCUMENT_DOORS[door]
    if (!isOpen(endpoint)) return []
    const names = shows === undefined ? (claims?.(endpoint) ?? []).map(({ shown }) => shown) : [shows(endpoint)]
    return names.map((name) => ({ door, path, name, isTopic }))
  })

/** The fields of the document, at its top, that claims are made with. */
export const CLAIMING_FIELDS: ReadonlySet<string> = new Set(
  ROWS.flatMap(({ field, claims }) => (claims === undefined ? [] : [field.split('.', 1)[0] as string])),
)

/** Whether all of its messages are runs of its schedule. */
export const isScheduledAlone = (endpoint: Endpoint): boolean =>
  Object.entries(DOCUMENT_DOORS).every(([door, { isOpen }]) => isOpen(endpoint) === (door === 'schedule'))

/** Whether some of its messages have a body. */
export const hasBody = (endpoint: Endpoint): boolean =>
  ROWS.some(({ isOpen, body }) => isOpen(endpoint) && body(endpoint) !== undefined)

/** What brings the messages of an endpoint whose messages have no body. */
export const nameBodiless = ({ endpoint: { pattern, method } }: Endpoint): string =>
  pattern === undefined ? 'run of a schedule' : method

/** Whether the senders of some of its messages wait for an answer. */
export const hasCaller = (endpoint: Endpoint): boolean =>
  Object.entries(DOCUMENT_DOORS).some(([door, { isOpen }]) => DOORS[door as Door].isRequest && isOpen(endpoint))

/** Whether messages arrive without a caller who waits. In: a stored document, which may have faults. */
export const needsNoCaller = (document: JsonObject): boolean =>
  Object.entries(DOCUMENT_DOORS).some(
    ([door, { field }]) => !DOORS[door as Door].isRequest && document[field] !== undefined,
  )
