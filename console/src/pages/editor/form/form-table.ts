/** What forms say of fields beside the schema: their order, their groups, names for people, and what is one of several. */

export type Section = Readonly<{ id: string; title: string; fields: readonly string[] }>

const words = (text: string): readonly string[] => text.split(' ')
const section = (id: string, title: string, fields: string): Section => ({ id, title, fields: words(fields) })
const SOURCES = 'schedule kafkaConsumerTopic kafkaConsumerStart kafka mllp'

/** Each field of the document is in one of these, or within a field that is. */
export const SECTIONS: readonly Section[] = [
  section('route', 'Route and sources', `name description labels paused endpoint ${SOURCES}`),
  section('formats', 'Formats', 'transformation csv failures'),
  section('callers', 'Callers', 'auth'),
  section('limits', 'Limits', 'limits rateLimit idempotency'),
  section('lookups', 'Lookups', 'requests.lookup'),
  section('validation', 'Validation', 'inputValidation'),
  section('mapping', 'Mapping', 'inputMapping constants inputTransforms'),
  section('responses', 'Response requests', 'requests.response unrouted'),
  section('answer', 'Answer', 'answer'),
  section('log', 'Message log', 'messageLog messageKeys'),
  section('state', 'State', 'state'),
]

type Group = Omit<Section, 'id'>

const WHEN: Group = { title: 'When it is made', fields: words('when after forEach') }
const ANSWER: Group = { title: 'Its answer', fields: words('primary allowedStatuses page validation cache') }
const FAILURE: Group = {
  title: 'Time and failures',
  fields: words('timeoutMs retries idempotent optional default fhirResponse'),
}

/** Parts of a large object below its other members. */
export const GROUPS: Readonly<Record<string, readonly Group[]>> = {
  'requests.lookup[]': [WHEN, ANSWER, FAILURE],
  'requests.response[]': [WHEN, { title: 'What it sends', fields: words('mapping key') }, ANSWER, FAILURE],
}

type Alternatives = Readonly<{ label: string; names: readonly string[] }>

const REQUEST_AUTH: Alternatives = { label: 'Method', names: ['basic', 'bearer', 'oauth2'] }

/** Members of which an object has one. */
const ONE_OF: Readonly<Record<string, Alternatives>> = {
  schedule: { label: 'When', names: ['cron', 'every'] },
  'auth.jwt': { label: 'Signed with', names: ['jwksUrl', 'secret'] },
  'requests.lookup[].config.auth': REQUEST_AUTH,
  'requests.response[].config.auth': REQUEST_AUTH,
  'requests.response[]': { label: 'Send to', names: ['config', 'kafkaProducerTopic'] },
}

/** In: the path of an object and the names of its members. Out: those of which it has one. */
export function alternatives(path: string, names: readonly string[]): Alternatives {
  const isValue = names.includes('path') && names.includes('expression')
  const ways = isValue ? names.filter((name) => ['path', 'expression', 'mapping'].includes(name)) : []
  return ONE_OF[path] ?? { label: 'Value by', names: ways }
}

/** Objects that are no choice of their own: they have no frame, and are written with their first member. */
export const FRAMELESS: ReadonlySet<string> = new Set(['config', 'params'])

/** What a new value has beside the fields that it requires. */
export const STARTERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'requests.lookup[]': { id: 'lookup', config: { method: 'GET', url: '' } },
  'requests.response[]': { id: 'response', config: { method: 'POST', url: '' } },
  schedule: { every: '1h' },
}

/** By the path of a field, or by its name. */
const LABELS: Readonly<Record<string, string>> = {
  'auth.apiKey': 'An API key',
  'auth.jwt': 'A JSON Web Token',
  endpoint: 'Route',
  'params.query': 'Query parameters',
  'params.url': 'Placeholders of the URL',
  'requests.lookup': 'Lookups',
  'requests.response': 'Response requests',
  'endpoint.pattern': 'Path',
  'state.extract.requestBody': 'From the body',
  'state.extract.responseBody': 'From the output',
  'state.extract.query': 'From the query',
  'state.extract.lookupRequests': 'From lookups',
  auth: 'Authentication',
  basic: 'User and password',
  config: 'A URL',
  cron: 'At times of a crontab',
  csv: 'CSV',
  every: 'In intervals',
  extract: 'Values for the next message',
  fhirResponse: 'Failures as an OperationOutcome',
  forEach: 'Once for each element of an array',
  id: 'Name',
  kafkaProducerTopic: 'A Kafka topic',
  mllp: 'MLLP (HL7 v2)',
  oauth2: 'OAuth 2.0',
  postfix: 'Text after it',
  prefix: 'Text before it',
  primary: 'Return this answer alone',
  sign: 'Sign (Standard Webhooks)',
  tls: 'Certificates (TLS)',
  timeoutMs: 'Timeout (ms)',
  unrouted: 'If no response request is made',
  url: 'URL',
  when: 'Only when',
}

/** The name of a field for people: `staleSeconds` is "Stale seconds" unless the table says it better. */
export function fieldLabel(path: string): string {
  const [name = ''] = path.replaceAll('[]', '').split('.').slice(-1)
  const inner = path.split('.').slice(-2).join('.')
  const words = name.replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
  return LABELS[path] ?? LABELS[inner] ?? LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

const SCHEMA = 'It is a JSON Schema.'
const ENTRIES = 'Its entries are written as text.'
const ANY = 'It can be any JSON.'

/** Why a field has no form of its own, by its path: free JSON, and mappings, which have a view. */
export const WITHOUT_FORM: Readonly<Record<string, string>> = {
  inputMapping: 'The mapping view shows its entries.',
  constants: ANY,
  inputValidation: 'It is a JSON Schema; for the fields of a message, its usual rules can be ticked here.',
  'requests.lookup[].config.body.mapping': ENTRIES,
  'requests.lookup[].validation': SCHEMA,
  'requests.lookup[].default': ANY,
  'requests.response[].mapping': ENTRIES,
  'requests.response[].default': ANY,
  'answer.mapping': ENTRIES,
}
