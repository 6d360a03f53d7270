/** The recorded commands, as data: they run in this order, in one folder with these files, beside a running service. */

export type CommandRow = Readonly<{ line: string; stdin?: string; env?: Readonly<Record<string, string>> }>

const text = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** `{admin}` and `{message}`: the origins of the service. Beside these, the samples are in `endpoints/`. */
export const FILES: Readonly<Record<string, string>> = {
  'crosswalk.json': text({
    endpoints: ['endpoints/**/endpoint*.json'],
    labels: { project: 'golden' },
    targets: { test: { url: '{admin}', values: {} }, prod: { url: 'http://127.0.0.1:1', values: {} } },
  }),
  'tables/unit.csv': 'code,ucum\nmilligram,mg\n',
  'endpoints/units/endpoint.json': text({
    name: 'Units',
    endpoint: { pattern: '/units' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: {
      'requestBody.unit': { key: 'ucum', transform: { function: 'table', parameters: { table: 'unit' } } },
    },
  }),
  'endpoints/units/endpoint.tests.json': text({
    tests: ['milligram', 'none'].map((unit) => ({
      name: unit,
      given: { message: { body: { unit } }, tables: unit === 'none' ? { units: 'code,ucum\nnone,1\n' } : {} },
      expect: { mapped: { ucum: 'mg' } },
    })),
  }),
  'wrong/cut.json': '{"name": "Cut",',
  'wrong/faults.json': text({
    name: 5,
    endpoint: { pattern: 'x' },
    transformation: { input: 'CSV' },
    inputTransforms: { a: '1 +' },
  }),
  'wrong/clash-a.json': text({
    name: 'Clash',
    endpoint: { pattern: '/clash/:a' },
    transformation: { input: 'JSON', output: 'JSON' },
  }),
  'wrong/clash-b.json': text({
    name: 'Clash',
    endpoint: { pattern: '/clash/:b' },
    transformation: { input: 'JSON', output: 'JSON' },
  }),
  'wrong/warned.json': text({
    name: 'Warned',
    endpoint: { pattern: '/warned' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.a': ['b', { key: 'b', default: '\u001b[31mred' }] },
  }),
  'wrong/warned.tests.json': text({
    tests: [
      { name: 'passes', given: { message: { body: { a: 1 } } }, expect: { mapped: { b: 1 } } },
      { name: 'fails', given: { message: { body: { a: 1 } } }, expect: { answer: { status: 201, body: { b: 2 } } } },
      { name: 'has a snapshot', given: { message: { body: { a: 1 } } }, expect: { snapshot: true } },
      { name: 'is skipped', skip: 'Later.', given: { message: {} }, expect: {} },
    ],
  }),
  'wrong/faults.tests.json': text({ tests: [{ nonsense: 1 }], nonsense: 2 }),
  'other/crosswalk.json': '{"nonsense": 1, "targets": {"a": {"url": "x"}}}',
  'message.json': text({ mrn: '1', given: 'Ada', born: { on: '1980-02-03' }, list: [1, 2] }),
  'message.xml': '<order id="7"><line>1</line><line>2</line></order>',
  'patient.json': text({ id: 'p-1', name: { family: 'Okafor', given: 'Amara' }, birthDate: '1984-07-19' }),
  'prices.json': text({
    currency: 'EUR',
    prices: [
      { code: '2345-7', amount: 2.35 },
      { code: '58410-2', amount: 8.9 },
    ],
    unknown: [],
  }),
  'messages/all.message.json': text([
    { name: 'a form', method: 'POST', path: '/registrations', body: { mrn: '1' } },
    { name: 'nobody takes it', method: 'POST', path: '/nothing', body: {} },
  ]),
  'peer/intake.json': text({
    name: 'Intake',
    endpoint: { pattern: '/intake' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: {
      'requestBody.a': 'b',
      'requestBody.c[]': { key: 'd', transform: { function: 'mapString', parameters: { x: 'y' } } },
    },
    inputValidation: { type: 'object', properties: { a: { type: 'string', nullable: true } }, $async: true },
    requests: {
      lookup: [
        {
          id: 'p',
          config: { method: 'get', url: 'http://old.example/p', headers: { Authorization: 'Bearer of-the-peer' } },
        },
      ],
      response: [
        { id: 'r', kafkaProducerTopic: 'out' },
        { id: 's', config: { method: 'post', url: 'http://old.example/s' } },
      ],
    },
    kafkaConsumerTopic: 'in',
    state: { extract: { requestBody: { last: 'a' } } },
    __v: 0,
    nonsense: true,
  }),
}

const NAMES = [
  'migrate',
  'copy-store',
  'keys',
  'keys create',
  'keys list',
  'keys revoke',
  'compare',
  'import',
  'lint',
  'run',
  'diff',
  'apply',
  'pull',
  'render',
  'messages',
  'replay',
  'new',
  'openapi',
  'schema',
  'completion',
  'test',
  'coverage',
]

const PATIENT = 'endpoints/flat-json-to-fhir-patient'
const ORDER = 'endpoints/order-enrichment'
const LAB = 'endpoints/lab-xml-to-json-and-back'
const ORDER_RUN = `run ${ORDER}/endpoint.json --input ${ORDER}/input.json --lookup patient=patient.json --lookup prices=prices.json`
const STAGES = [
  'recall',
  'parse',
  'lookup',
  'validate',
  'transform',
  'map',
  'extract',
  'serialise',
  'respond',
  'nonsense',
]
const UNREACHABLE_STORE = { DATABASE_START_TIMEOUT_MS: '0' }

const lines = (...all: readonly string[]): readonly CommandRow[] => all.map((line) => ({ line }))

/** Words are parted by single spaces; `_` within one stands for a space. */
export const COMMANDS: readonly CommandRow[] = [
  ...lines('--help', '--version', 'help', 'help lint', 'help nonsense', 'nonsense', 'lnt', '--nonsense'),
  ...NAMES.flatMap((name) => lines(`${name} --help`, `${name} --nonsense`)),
  ...NAMES.filter((name) => !/^(?:migrate|keys.list|test|coverage|lint|openapi|schema)$/.test(name)).flatMap((name) =>
    lines(name),
  ),
  {
    line: '',
    env: { SERVER_PORT: 'x', ADMIN_PORT: '99999', DATABASE_URL: 'mongodb://a', LOG_LEVEL: 'loud', PARSER_LIMIT: '1tb' },
  },
  { line: '', env: { DATABASE_URL: 'sqlite:./crosswalk.json/all.db' } },
  ...lines('migrate', 'migrate', 'keys list', 'keys create --name Ann --role author operator --expires 2040-01-01'),
  ...lines(
    'keys create --name Ann --role nonsense',
    'keys create --name Ann --role admin --expires never',
    'keys list',
    'keys revoke 0000000000000000',
    'keys revoke x',
  ),
  { line: 'migrate', env: { DATABASE_URL: 'postgres://127.0.0.1:1/none', ...UNREACHABLE_STORE } },
  { line: 'copy-store --from sqlite:./data/crosswalk.db --to postgres://127.0.0.1:1/none', env: UNREACHABLE_STORE },
  ...lines(
    'copy-store --from sqlite:./none.db --to postgres://127.0.0.1:1/none',
    'copy-store --from nonsense --to sqlite:./a.db',
  ),

  ...lines(
    'lint',
    'lint --strict',
    'lint --target test',
    'lint --target nonsense',
    'lint wrong',
    'lint wrong/warned.json --strict',
    'lint none.json',
  ),
  ...['text', 'json', 'sarif', 'github', 'nonsense'].flatMap((format) => lines(`lint wrong --format ${format}`)),
  ...lines('lint --project other', 'lint --project nowhere'),

  ...lines(
    `run ${PATIENT}/endpoint.json --input ${PATIENT}/input.json`,
    `run ${PATIENT}/endpoint.json --input message.json`,
    `run ${PATIENT}/endpoint.json`,
  ),
  { line: `run ${PATIENT}/endpoint.json --input - --json`, stdin: '{"mrn": "1"}' },
  ...lines(
    `run ${LAB}/endpoint.json --input ${LAB}/input.xml`,
    `run ${LAB}/endpoint-back.json --input ${LAB}/output.json`,
  ),
  ...lines(
    ORDER_RUN,
    `${ORDER_RUN} --json`,
    `run ${ORDER}/endpoint.json --input ${ORDER}/input.json`,
    `${ORDER_RUN} --response billing=timeout --response laboratory=404:patient.json`,
  ),
  ...STAGES.flatMap((stage) => lines(`${ORDER_RUN} --stage ${stage}`)),
  ...lines(
    `${ORDER_RUN} --header nonsense`,
    `${ORDER_RUN} --lookup none=patient.json`,
    `${ORDER_RUN} --lookup patient=none.json`,
    `${ORDER_RUN} --query a=1 --param b=2 --header X-A:_1`,
  ),
  ...lines('run wrong/faults.json', 'run wrong/cut.json', 'run none.json', `${ORDER_RUN} --state message.json`),

  ...lines(
    'test',
    'test --json',
    'test wrong',
    'test wrong/warned.json --json',
    'test --filter half',
    'test --filter no_such_test',
    'test --min-coverage 100',
    'test --min-coverage x',
  ),
  ...lines(
    'test wrong/warned.json --update',
    'test wrong/warned.json --junit results.xml',
    'test none.json',
    'coverage',
    'coverage wrong/warned.json --json',
  ),

  ...lines(
    'openapi',
    `openapi ${PATIENT}/endpoint.json --title Patients --api-version 2 --origin https://a.example`,
    'openapi -o openapi.json',
    'openapi wrong',
    'openapi --origin nonsense',
  ),
  ...lines(
    'new Lab_orders',
    'new Lab_orders',
    'new From_JSON --sample message.json',
    'new From_XML --sample message.xml',
    'new X --sample none.json',
    'new X --sample wrong/cut.json',
  ),
  ...lines('schema', 'schema tests', 'schema project', 'schema nonsense', 'render test', 'render nonsense'),
  ...lines('completion bash', 'completion zsh', 'completion fish', 'completion nonsense'),

  ...lines(
    'diff test',
    'diff test --exit-code',
    'diff prod',
    'diff nonsense',
    'diff',
    'diff test --json',
    'diff test --key-file none',
  ),
  ...lines(
    'apply test',
    'apply test --plan plan.json',
    'apply test --plan plan.json --yes',
    'apply test --plan plan.json --yes',
    'apply test --yes --json --note again',
    'apply prod --yes',
  ),
  ...lines('diff test --exit-code', 'apply test --yes --prune', 'pull test', 'pull test --all --json', 'pull prod'),
  { line: 'diff test', env: { CROSSWALK_KEY: 'nonsense' } },

  ...lines(
    'compare --peer {message} --messages messages --service {message}',
    'compare --peer {message} --messages messages --service {message} --json --ignore /meta',
  ),
  ...lines(
    'compare --peer http://127.0.0.1:1 --messages messages --service {message}',
    'compare --peer {message} --messages nowhere',
    'compare --peer nonsense --messages messages',
  ),
  ...lines(
    'compare --openhim transactions.jsonl --endpoints openhim',
    'compare --openhim transactions.jsonl --endpoints openhim --json --limit 3',
    'compare --openhim none.jsonl --endpoints openhim',
  ),
  ...lines(
    'compare --openhim transactions.jsonl --endpoints openhim --save-tests saved',
    'compare --openhim transactions.jsonl --endpoints openhim --path nonsense',
  ),
  ...lines(
    'messages test',
    'messages test --json --limit 1',
    'messages {admin} --outcome failed --from -1h',
    'messages test --limit x',
    'messages test --outcome nonsense',
    'messages test --filter nonsense',
  ),
  ...lines(
    'messages test --filter none=1',
    'messages {message}',
    'replay test 000000000000000000000000',
    'replay test --endpoint None --yes',
    'replay test --outcome failed --outcome refused',
    'replay test --outcome refused --yes',
  ),
  ...lines('replay test', 'replay test --max x --yes --outcome failed'),
  ...lines(
    'schedules list test',
    'schedules run test --endpoint None --yes',
    'schedules run test',
    'deliveries list test',
    'deliveries list test --json --state undeliverable',
    'deliveries list test --state nonsense',
    'deliveries show test 000000000000000000000000',
    'deliveries retry test --endpoint None --yes',
    'deliveries retry test --state undeliverable --yes',
    'deliveries cancel test',
  ),

  ...lines(
    'import peer --output imported',
    'import peer --output imported',
    'import peer wrong --output imported-too --report report.json --rebase http://old.example=http://new.example --consumer-start latest',
  ),
  ...lines(
    'import peer --output imported-and-applied --apply {message}',
    'import peer --output again --apply {message} --replace',
    'import none --output x',
    'import peer --output y --peer-version nonsense',
  ),
  ...lines(
    'import peer --output z --consumer-start nonsense',
    'import http://127.0.0.1:1 --output u',
    'import peer --output v --apply http://127.0.0.1:1',
    'import openhim --output w',
  ),
]
