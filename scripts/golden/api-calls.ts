/** The calls of the management API that are recorded, as data. `{name}` stands for what an earlier step saved. */

type Json = unknown

export const ROLES = ['viewer', 'operator', 'author', 'admin'] as const

export type Step = Readonly<{
  /** Method and path, with a query if it has one. */
  call: string
  body?: Json
  headers?: Readonly<Record<string, string>>
  /** By the name: where the answer has it, `header:etag` or a path such as `messages.0.id`. */
  save?: Readonly<Record<string, string>>
  /** A message: sent to the message port without a key, and its log entry is waited for. */
  isMessage?: boolean
  /** The call is repeated until its answer has this text. */
  until?: string
}>

const MERGE = { 'content-type': 'application/merge-patch+json' }

const ORDERS = {
  name: 'Orders',
  description: 'Orders of all wards',
  labels: { team: 'lab' },
  endpoint: { pattern: '/orders/:ward', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
  messageLog: 'all',
  messageKeys: { patient: 'requestBody.patient' },
  inputValidation: { required: ['code'], properties: { code: { type: 'string' } } },
  requests: {
    lookup: [
      {
        id: 'patient',
        config: {
          url: 'http://{upstream}/json/:n',
          headers: { authorization: 'Bearer of-the-document' },
          params: { url: { n: { path: 'payload.patient' } } },
        },
      },
    ],
    response: [{ id: 'store', config: { url: 'http://{upstream}/json/9', method: 'POST' } }],
  },
  inputTransforms: { upper: '$uppercase(requestBody.code)' },
  inputMapping: {
    'requestBody.code': 'code',
    'transforms.upper': 'upper',
    'lookupRequests.patient.data.id': 'patient.id',
  },
}
const plain = (name: string, more: object = {}) => ({
  name,
  endpoint: { pattern: `/${name.toLowerCase()}` },
  transformation: { input: 'JSON', output: 'JSON' },
  ...more,
})
const WRONG = {
  name: '',
  nonsense: 1,
  endpoint: { pattern: 'no slash', method: 'TRACE' },
  transformation: { input: 'CSV', output: 'JSON' },
  inputMapping: {
    'requestBody.[': 'a',
    'nowhere.b': 'c',
    'requestBody.c': { key: 'd', transform: { function: 'nonsense' } },
  },
  inputTransforms: { a: '1 +', b: 'transforms.c', c: '2' },
  inputValidation: { type: 'nonsense', properties: { a: { pattern: '(' } } },
  requests: {
    lookup: [
      { id: 'x', config: { url: 'ftp://a' } },
      { id: 'x', config: { url: 'http://a/:id' } },
    ],
    response: [{}],
  },
  state: { extract: { nonsense: 1 } },
  rateLimit: { messages: 0 },
  auth: { apiKey: { header: 'X-Key', keys: ['in plain text'] } },
  labels: { 'not a label!': 1 },
}
const LOOKUP = { patient: { body: { id: 7 } } }
const MESSAGE = { body: { code: 'hb', patient: 17 }, urlParams: { ward: '7' } }
const TESTS = {
  tests: [
    {
      name: 'good',
      given: { message: MESSAGE, lookups: LOOKUP },
      expect: { outcome: 'done', mapped: { code: 'hb', upper: 'HB', patient: { id: 7 } } },
    },
    {
      name: 'bad',
      given: { message: MESSAGE, lookups: LOOKUP },
      expect: { outcome: 'failed', answer: { status: 500, headers: { 'x-a': 'b' } }, calls: [] },
    },
    { name: 'snapshot', given: { message: MESSAGE, lookups: LOOKUP }, expect: { snapshot: true } },
    { name: 'skipped', skip: 'Later.', given: { message: MESSAGE }, expect: { outcome: 'done' } },
    { name: 'to do', given: { message: MESSAGE }, expect: { todo: true } },
  ],
}
const order = (body: Json, save: Step['save'] = {}): Step => ({
  call: 'POST /orders/7?urgent=1',
  body,
  save,
  isMessage: true,
})
const get = (...paths: readonly string[]): readonly Step[] => paths.map((path) => ({ call: `GET ${path}` }))

export const SCENARIO: readonly Step[] = [
  ...get('/endpoints', '/endpoints?view=summary', '/messages', '/stats', '/messages/groups', '/messages/replay'),
  { call: 'POST /endpoints', body: ORDERS, save: { orders: '_id', etag: 'header:etag' } },
  { call: 'POST /endpoints', body: ORDERS },
  { call: 'POST /endpoints', body: WRONG },
  { call: 'POST /endpoints', body: plain('Large', { constants: { large: 'x'.repeat(300_000) } }) },
  { call: 'POST /endpoints', body: plain('Larger', { constants: { large: 'x'.repeat(1_100_000) } }) },
  { call: 'POST /endpoints', body: plain('Plain'), save: { plain: '_id' } },
  {
    call: 'POST /endpoints',
    body: plain('Secretive', { constants: { password: 'in plain text' }, messageLog: 'all' }),
    save: { secretive: '_id' },
  },
  ...get(
    '/endpoints?name=Orders',
    '/endpoints?name=Orders&name=Plain',
    '/endpoints?labels.team=lab',
    '/endpoints?requests.lookup.id=patient',
    '/endpoints?nonsense=1',
    '/endpoints?endpoint..x=1',
    '/endpoints?view=summary&q=ward&sort=-updatedAt&limit=1',
    '/endpoints?view=summary&limit=0&sort=nonsense&faults=maybe&cursor=nonsense',
    '/endpoints?view=nonsense',
    '/endpoints/{orders}',
  ),
  { call: 'GET /endpoints/{orders}', headers: { 'if-none-match': '{etag}' } },
  {
    call: 'PUT /endpoints/{orders}',
    body: { ...ORDERS, description: 'Changed' },
    headers: { 'if-match': '"another"' },
  },
  { call: 'PUT /endpoints/{orders}', body: { ...ORDERS, description: 'Changed' }, headers: { 'if-match': '{etag}' } },
  { call: 'PUT /endpoints/{orders}', body: { ...ORDERS, description: 'Changed' } },
  { call: 'PUT /endpoints/{orders}', body: { ...ORDERS, name: 'Plain' } },
  { call: 'PUT /endpoints/{orders}', body: WRONG },
  { call: 'PATCH /endpoints/{orders}', body: { description: null, labels: { ward: 'a' } }, headers: MERGE },
  { call: 'PATCH /endpoints/{orders}', body: { labels: { ward: 'b' } } },
  { call: 'PATCH /endpoints/{orders}', body: { nonsense: 1 }, headers: MERGE },
  order({ code: 'hb', patient: 17 }, { message: 'header:x-crosswalk-message-id' }),
  order({ patient: 17 }, { refused: 'header:x-crosswalk-message-id' }),
  order({ code: 'hb' }, { failed: 'header:x-crosswalk-message-id' }),
  ...['plain1', 'plain2', 'plain3', 'plain4'].map(
    (name): Step => ({
      call: 'POST /plain',
      body: { a: 1 },
      save: { [name]: 'header:x-crosswalk-message-id' },
      isMessage: true,
    }),
  ),
  {
    call: 'POST /secretive',
    body: { token: 'x' },
    headers: { authorization: 'Bearer of-the-caller' },
    isMessage: true,
  },
  { call: 'GET /nothing', isMessage: true },
  ...get('/endpoints/{orders}/schedule'),
  { call: 'POST /endpoints/{orders}/run' },
  { call: 'POST /endpoints/{orders}/messages', body: { headers: 5 } },
  { call: 'GET /endpoints/{orders}/stats', until: '"count":3' },
  ...get('/stats', '/endpoints?view=summary&limit=1', '/endpoints/graph?q=orders', '/endpoints/{orders}/graph'),
  ...get(
    '/endpoints/{orders}/versions',
    '/endpoints/{orders}/versions/1',
    '/endpoints/{orders}/versions/99',
    '/endpoints/{orders}/versions/x',
  ),
  ...get(
    '/endpoints/{orders}/versions/1/diff/2',
    '/endpoints/{orders}/versions/1/diff/99',
    '/endpoints/{orders}/faults',
    '/endpoints/{orders}/drift?hours=1',
  ),
  { call: 'POST /endpoints/{orders}/diff', body: { ...ORDERS, inputMapping: { 'requestBody.code': 'other' } } },
  { call: 'POST /endpoints/{orders}/versions/1/restore', body: {} },
  { call: 'POST /endpoints/{orders}/versions/99/restore', body: {} },
  ...get('/endpoints/{orders}/tests'),
  { call: 'PUT /endpoints/{orders}/tests', body: TESTS, save: { testsEtag: 'header:etag' } },
  { call: 'PUT /endpoints/{orders}/tests', body: { tests: [{ name: 1 }, { nonsense: 1 }], ignore: 5 } },
  { call: 'PUT /endpoints/{orders}/tests', body: TESTS, headers: { 'if-match': '"another"' } },
  ...get('/endpoints/{orders}/tests'),
  { call: 'PUT /endpoints/{orders}', body: { ...ORDERS, description: 'With tests' } },
  { call: 'POST /endpoints/tests/run', body: { endpointId: '{orders}', coverage: true } },
  { call: 'POST /endpoints/tests/run', body: { endpoint: ORDERS, tests: TESTS, update: true } },
  { call: 'POST /endpoints/tests/run', body: { endpoint: WRONG, tests: 5, nonsense: 1 } },
  { call: 'DELETE /endpoints/{orders}/tests', headers: { 'if-match': '"another"' } },
  { call: 'DELETE /endpoints/{orders}/tests' },
  {
    call: 'POST /endpoints/batch',
    body: {
      operations: [
        { op: 'create', document: plain('Batched') },
        { op: 'delete', id: '{plain}' },
      ],
      dryRun: true,
    },
  },
  {
    call: 'POST /endpoints/batch',
    body: {
      operations: [
        { op: 'create', document: WRONG },
        { op: 'replace', id: '0', document: ORDERS },
        { op: 'nonsense' },
        5,
      ],
      note: 5,
    },
  },
  {
    call: 'POST /endpoints/batch',
    body: {
      operations: [
        { op: 'create', document: ORDERS },
        { op: 'delete', id: '{plain}', ifMatch: '"another"' },
      ],
    },
  },
  {
    call: 'POST /endpoints/batch',
    body: {
      operations: [
        { op: 'create', document: plain('Batched') },
        { op: 'replace', id: '{plain}', document: plain('Plain', { description: 'Batched' }) },
      ],
      note: 'two',
    },
  },
  { call: 'POST /endpoints/dry-run', body: { endpointId: '{orders}', message: MESSAGE, lookups: LOOKUP } },
  { call: 'POST /endpoints/dry-run', body: { endpoint: ORDERS, message: MESSAGE } },
  { call: 'POST /endpoints/dry-run', body: { endpoint: ORDERS, message: MESSAGE, live: true } },
  { call: 'POST /endpoints/dry-run', body: { endpoint: WRONG, run: false } },
  { call: 'POST /endpoints/dry-run', body: { endpoint: ORDERS, message: MESSAGE, lookups: LOOKUP, view: 'mapping' } },
  {
    call: 'POST /endpoints/dry-run',
    body: {
      endpoint: ORDERS,
      endpointId: 5,
      message: 5,
      lookups: { none: { fault: 'nonsense' } },
      live: 5,
      limit: 1,
      nonsense: 1,
    },
  },
  { call: 'POST /endpoints/dry-run', body: { messageId: '{message}', version: 'recorded' } },
  { call: 'POST /endpoints/dry-run', body: { messageId: '{message}', endpoint: { ...ORDERS, inputMapping: {} } } },
  {
    call: 'POST /endpoints/dry-run/value',
    body: { endpoint: ORDERS, message: MESSAGE, lookups: LOOKUP, at: '/answer/body' },
  },
  {
    call: 'POST /endpoints/dry-run/value',
    body: { endpoint: ORDERS, message: MESSAGE, lookups: LOOKUP, at: 'nowhere' },
  },
  { call: 'GET /endpoints/openapi.json', save: { openapiEtag: 'header:etag' } },
  { call: 'GET /endpoints/openapi.json', headers: { 'if-none-match': '{openapiEtag}' } },
  ...get('/endpoints/openapi.json?name=Orders', '/endpoints/{orders}/openapi.json'),
  { call: 'GET /endpoints/vocabulary', save: { vocabularyEtag: 'header:etag' } },
  { call: 'GET /endpoints/samples' },
  { call: 'GET /endpoints/vocabulary', headers: { 'if-none-match': '{vocabularyEtag}' } },
  {
    call: 'POST /endpoints/suggest',
    body: {
      source: { body: { patient: { birth_date: '1980-02-03' }, lines: [{ amount: '12' }] } },
      target: { sample: { patient: { birthDate: '2000-01-01' }, lines: [{ amount: 1.5 }] } },
      fields: true,
    },
  },
  {
    call: 'POST /endpoints/suggest',
    body: {
      messageId: '{message}',
      target: { schema: { properties: { code: { type: 'string' } } } },
      endpointId: '{orders}',
    },
  },
  { call: 'POST /endpoints/suggest', body: { source: 5, target: {}, nonsense: 1 } },
  { call: 'POST /endpoints/draft', body: { name: 'Discharges', pattern: '/discharges', sample: '{ "ward": "A3" }' } },
  {
    call: 'POST /endpoints/draft',
    body: { name: 'Discharges', pattern: '/discharges', sample: '<d><ward>A3</ward></d>' },
  },
  { call: 'POST /endpoints/draft', body: { name: 5, pattern: 'x', format: 'CSV', sample: '{' } },
  ...get(
    '/messages',
    '/messages?limit=1',
    '/messages?limit=0&outcome=nonsense&code=x&stage=y&status=z&from=never&cursor=nonsense&nonsense=1',
  ),
  ...get(
    '/messages?endpoint=Orders&outcome=refused',
    '/messages?code=VALIDATION_FAILED&stage=validate',
    '/messages?key=patient:17',
    '/messages?status=400',
  ),
  ...get(
    '/messages?error=required&path=inputValidation',
    '/messages?id={message}',
    '/messages?source=http&version=2',
    '/messages?from=-1h&to=2040-01-01T00:00:00Z',
  ),
  ...get(
    '/messages/{message}',
    '/messages/{refused}',
    '/messages/{message}/body/incoming',
    '/messages/{message}/body/answer',
    '/messages/{message}/body/lookup.patient',
  ),
  ...get(
    '/messages/{message}/body/request',
    '/messages/{message}/body/mapped',
    '/messages/{message}/body/transforms',
    '/messages/{message}/body/nonsense',
  ),
  { call: 'GET /messages/groups', save: { group: 'groups.0.key' } },
  ...get(
    '/messages/groups?endpoint=Orders',
    '/messages/groups?state=nonsense',
    '/messages/groups/{group}',
    '/messages/groups/nonsense',
  ),
  { call: 'PUT /messages/groups/{group}', body: { state: 'acknowledged', note: 'known' } },
  { call: 'PUT /messages/groups/{group}', body: { state: 'nonsense', note: 5 } },
  ...get('/messages/groups?state=acknowledged', '/messages?group={group}'),
  { call: 'POST /messages/{message}/replay', body: '' },
  { call: 'POST /messages/{refused}/replay', body: { code: 'hb', patient: 17 } },
  { call: 'POST /messages/{refused}/replay', body: '' },
  { call: 'POST /messages/replay', body: { code: 'VALIDATION_FAILED', nonsense: 1, limit: 'x' } },
  { call: 'POST /messages/replay', body: { outcome: ['refused', 'failed'], endpoint: 'Orders' }, save: { plan: 'id' } },
  { call: 'POST /messages/replay', body: { id: ['{message}'] }, save: { second: 'id' } },
  ...get('/messages/replay', '/messages/replay/{plan}'),
  ...get(
    '/deliveries',
    '/deliveries/counts',
    '/deliveries/groups',
    '/deliveries?state=nonsense',
    '/deliveries/{message}',
  ),
  ...get('/deliveries/{message}/request', '/endpoints/{orders}/deliveries/{message}'),
  { call: 'POST /deliveries/{message}/retry', body: {} },
  { call: 'POST /deliveries/{message}/cancel', body: {} },
  { call: 'POST /deliveries/retry', body: { state: 'undeliverable' } },
  { call: 'POST /deliveries/cancel', body: {} },
  {
    call: 'POST /messages/replay/{plan}/run',
    body: { max: 0, concurrency: 'x', perSecond: -1, canary: 99, nonsense: 1 },
  },
  { call: 'POST /messages/replay/{plan}/continue', body: {} },
  { call: 'POST /messages/replay/{plan}/pause', body: {} },
  { call: 'POST /messages/replay/{plan}/run', body: { canary: 1, concurrency: 1 } },
  { call: 'GET /messages/replay/{plan}', until: '"state":"finished"' },
  { call: 'POST /messages/replay/{plan}/run', body: {} },
  { call: 'POST /messages/replay', body: { outcome: ['done'], id: ['{plain1}', '{plain2}'] }, save: { canary: 'id' } },
  { call: 'POST /messages/replay/{canary}/run', body: { canary: 1, concurrency: 1 } },
  { call: 'GET /messages/replay/{canary}', until: '"state":"waiting"' },
  { call: 'POST /messages/replay/{canary}/continue', body: {} },
  { call: 'GET /messages/replay/{canary}', until: '"state":"finished"' },
  { call: 'POST /messages/replay/{second}/cancel', body: {} },
  { call: 'POST /messages/replay', body: { outcome: ['done'], id: ['{plain3}', '{plain4}'] }, save: { slow: 'id' } },
  { call: 'POST /messages/replay/{slow}/run', body: { perSecond: 0.01 } },
  { call: 'GET /messages/replay/{slow}', until: '"done":1' },
  { call: 'POST /messages/replay/{slow}/pause', body: {} },
  { call: 'GET /messages/replay/{slow}', until: '"state":"paused"' },
  { call: 'POST /messages/replay/{slow}/cancel', body: {} },
  ...get('/messages/replay/{second}', '/messages?replayOf={refused}', '/messages?replayed=true'),
  ...get('/endpoints/{orders}/capture'),
  { call: 'POST /endpoints/{orders}/capture', body: { messages: 0, until: 'never', nonsense: 1 } },
  { call: 'POST /endpoints/{orders}/capture', body: { messages: 2 } },
  order({ code: 'captured', patient: 18 }, { captured: 'header:x-crosswalk-message-id' }),
  ...get('/endpoints/{orders}/capture', '/messages?captured=true', '/messages/{captured}'),
  { call: 'DELETE /endpoints/{orders}/capture' },
  { call: 'POST /messages/{message}/test', body: { name: 'recorded' } },
  { call: 'POST /messages/{captured}/test', body: { name: 5, pseudonymise: 'x' } },
  { call: 'POST /messages/{captured}/test', body: { pseudonymise: false } },
  ...get(
    '/uptime',
    '/health/live',
    '/health/ready',
    '/consumers',
    '/metrics',
    '/me',
    '/events',
    '/events?types=nonsense',
    '/keys',
    '/audit?limit=100',
  ),
  {
    call: 'POST /keys',
    body: { name: 'Ann', roles: ['author', 'operator'], expiresAt: '2040-01-01T00:00:00Z' },
    save: { ann: 'id' },
  },
  { call: 'POST /keys', body: { name: '', roles: ['nonsense'], expiresAt: '2001-01-01T00:00:00Z', nonsense: 1 } },
  { call: 'DELETE /keys/{ann}' },
  { call: 'DELETE /keys/{ann}' },
  ...get(
    '/keys',
    '/audit?limit=1',
    '/audit?what=endpoint.create',
    '/audit?limit=0&from=never&nonsense=1',
    '/openapi.json',
  ),
  { call: 'PUT /tables/sex', body: [{ code: 'F', fhir: 'female' }] },
  { call: 'PUT /tables/sex?dryRun=true', body: 'code,fhir\nF,f\n', headers: { 'content-type': 'text/csv' } },
  { call: 'PUT /tables/sex', body: 'code,fhir\nF\n', headers: { 'content-type': 'text/csv' } },
  { call: 'POST /tables/sex/rows', body: { rows: [{ code: 'M', fhir: 'male' }] } },
  ...get(
    '/tables',
    '/tables/sex',
    '/tables/sex/rows?limit=1',
    '/tables/sex/versions',
    '/tables/sex/versions/1',
    '/tables/sex/versions/1/diff/2',
    '/tables/sex/versions/2/effect',
    '/messages?missed=nothing',
    '/tables/sex/unmapped',
    '/tables/sex/$translate?code=F',
    '/tables/sex/$translate?code=X',
    '/fhir/ConceptMap/$translate?url=sex&code=F',
    '/fhir/ConceptMap/$translate?code=F',
  ),
  {
    call: 'POST /fhir/ConceptMap/$translate',
    body: {
      resourceType: 'Parameters',
      parameter: [
        { name: 'url', valueUri: 'sex' },
        { name: 'code', valueCode: 'M' },
      ],
    },
  },
  { call: 'POST /tables/sex/rows', body: { rows: [{ code: '' }, { cod: 'M' }], remove: ['M', 1] } },
  {
    call: 'PUT /tables/map',
    body: { resourceType: 'ConceptMap', group: [{ element: [{ code: 'F', target: [{ code: 'female' }] }] }] },
    headers: { 'content-type': 'application/fhir+json' },
  },
  {
    call: 'POST /endpoints/batch',
    body: {
      operations: [
        { op: 'putTable', table: 'unit', content: 'code,ucum\nmg,mg\n' },
        { op: 'deleteTable', table: 'map' },
        { op: 'deleteTable', table: 'nothing' },
      ],
    },
  },
  {
    call: 'POST /endpoints/batch',
    body: {
      operations: [
        { op: 'putTable', table: 'unit', content: 'code,ucum\nmg,mg\n' },
        { op: 'deleteTable', table: 'map' },
      ],
    },
  },
  { call: 'POST /tables/sex/versions/1/restore' },
  { call: 'DELETE /tables/sex/unmapped' },
  { call: 'DELETE /tables/sex', headers: { 'if-match': '"another"' } },
  { call: 'DELETE /tables/sex' },
  { call: 'DELETE /endpoints/{plain}', headers: { 'if-match': '"another"' } },
  { call: 'DELETE /endpoints/{plain}' },
  { call: 'DELETE /endpoints/{plain}' },
  ...get('/endpoints/{plain}/versions', '/endpoints/{plain}/stats', '/endpoints'),
]

/** Paths beside those of the table of routes, and spellings of them. */
export const OTHER_PATHS: readonly string[] = [
  '/',
  '/console',
  '/console/endpoints',
  '/nonsense',
  '/health',
  '/favicon.ico',
  '/robots.txt',
  '/openapi.json',
  '/endpoints/',
  '//endpoints',
  '/Endpoints',
  '/%65ndpoints',
  '/endpoints/..%2fkeys',
  '/endpoints%00',
  '/messages/',
  '/uptime/further',
]

/** What the parts of a path are where there is no such thing, and where they cannot be anything. */
export const MISSING: Readonly<Record<string, string>> = {
  id: '0'.repeat(24),
  key: 'WyJ4Il0',
  name: 'nothing',
  plan: '0'.repeat(24),
  version: '98',
  other: '99',
  which: 'incoming',
}
export const MALFORMED = 'Not%20an%20id'

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'] as const

const JSON_TYPE = { 'content-type': 'application/json' }

/** Bodies that no route takes, or most do not. */
export const BODIES: readonly (readonly [title: string, headers: Readonly<Record<string, string>>, body: string])[] = [
  ['an array', JSON_TYPE, '[]'],
  ['a text', JSON_TYPE, '"text"'],
  ['an empty object', JSON_TYPE, '{}'],
  ['another member', JSON_TYPE, '{"nonsense":1}'],
  ['cut JSON', JSON_TYPE, '{"a":'],
  ['no body', JSON_TYPE, ''],
  ['no media type', {}, '{}'],
  ['another media type', { 'content-type': 'text/plain' }, '{}'],
  ['a merge patch', { 'content-type': 'application/merge-patch+json' }, '{}'],
  ['another charset', { 'content-type': 'application/json; charset=latin1' }, '{}'],
  ['another coding', { ...JSON_TYPE, 'content-encoding': 'gzip' }, '{}'],
]

/** Calls without a key on this machine, before there is one, by what a browser or a proxy would send. */
export const FORGED: readonly Readonly<Record<string, string>>[] = [
  {},
  { host: 'rebound.example.org' },
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { 'x-forwarded-for': '10.0.0.1' },
  { via: '1.1 crosswalk' },
]
