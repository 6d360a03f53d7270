/**
 * The table of commands: everything that the command line accepts. Parsing, checks, help, docs/cli.md and completion follow from
 * it, and so does the type of what a command is given. What a command does is in a file of its own, which program.ts loads when
 * it runs: neither `--help` nor a start of the service needs it.
 */
import { DELIVERY_ACTS, DELIVERY_STATES, MAX_CHANGED_DELIVERIES } from '../core/deliveries/delivery.ts'
import { MAX_EXAMPLES } from '../core/examples.ts'
import { REPLAY_LOOKUPS } from '../core/replays/replay-lookups.ts'
import { STAGE_NAMES } from '../core/tracing/stages.ts'
import type { Exit } from './command.ts'

/** The text of its help, with what else there is to say. */
export type ArgumentDeclaration =
  | string
  | Readonly<{
      help: string
      /** The name in code, if another one has the shown name. */
      as?: string
      choices?: readonly string[]
    }>

export type OptionDeclaration =
  | string
  | Readonly<{
      help: string
      isRequired?: true
      /** It may be given several times, or with several values if its value ends with dots. */
      isMany?: true
      choices?: readonly string[]
      default?: string
      /** The value is a number. */
      number?: NumberRange
    }>

export type NumberRange = Readonly<{ min: number; max: number; isWhole?: true }>

export type CommandDeclaration = Readonly<{
  summary: string
  /** After the options in the help of the command. */
  note?: string
  /** As help shows them: `<id>`, `[files...]`. */
  arguments?: Readonly<Record<string, ArgumentDeclaration>>
  /** As help shows them: `--key-file <file>`. One without a value is a flag. */
  options?: Readonly<Record<string, OptionDeclaration>>
  /** How it may end beside `done` and `failed`. */
  exits?: readonly Exit[]
  /** False for a command that runs in any folder: a faulty `.env` there must not matter. True by default. */
  readsSettings?: false
}>

const FILL_TARGET = { '--target <name>': 'a target of crosswalk.json, whose values are filled in' } as const

const PROJECT = {
  '--project <path>':
    'crosswalk.json or its folder; by default the nearest at or above the named files, else at or above this folder',
} as const

const KEY_FILE = {
  '--key-file <file>': 'a file that holds the API key of the service, instead of CROSSWALK_KEY',
} as const

/** Of each command that calls a running service. */
const SERVICE = {
  '--target <name>': 'the same, as an option',
  ...PROJECT,
  ...KEY_FILE,
  '--json': 'writes the result as JSON',
} as const

const PROJECT_TARGET = {
  '[target]': { as: 'namedTarget', help: 'a target of crosswalk.json; not needed if it has one only' },
} as const

const SERVICE_TARGET = {
  '[target]': { as: 'namedTarget', help: 'a target of crosswalk.json, or the URL of the admin port' },
} as const

const FILTERS = {
  '--endpoint <name>': { isMany: true, help: 'messages of this endpoint; may be given several times' },
  '--outcome <outcome>': { isMany: true, help: 'done, partial, refused or failed; may be given several times' },
  '--code <code>': { isMany: true, help: 'messages that failed with this code; may be given several times' },
  '--from <time>': 'messages since a time, such as -1h',
  '--to <time>': 'messages until a time',
  '--filter <name=value>': { isMany: true, help: 'any filter of GET /messages; may be given several times' },
} as const

const DELIVERY_FILTERS = {
  '--state <state>': { choices: DELIVERY_STATES, help: 'deliveries in this state' },
  '--endpoint <name>': 'deliveries of this endpoint',
  '--key <key>': 'deliveries with this key of their order',
  '--from <time>': 'deliveries accepted since a time, such as -1h',
  '--to <time>': 'deliveries accepted until a time',
  '--filter <name=value>': { isMany: true, help: 'any filter of GET /deliveries; may be given several times' },
} as const

const DELIVERIES = {
  ...SERVICE_TARGET,
  '[id...]': 'ids of deliveries',
} as const

const CHANGED_DELIVERIES = {
  ...SERVICE,
  '--yes': 'asks no question',
  '--max <number>': {
    number: { min: 1, max: MAX_CHANGED_DELIVERIES, isWhole: true },
    help: `with filters: the most deliveries; by default ${MAX_CHANGED_DELIVERIES.toLocaleString('en')}`,
  },
  ...DELIVERY_FILTERS,
} as const

const TEST_FILES = {
  '[files...]': 'tests, documents or folders with them; by default those of crosswalk.json, or this folder',
} as const

/** Several words: a command of a group. */
export const GROUPS: Readonly<Record<string, string>> = {
  keys: 'manages the API keys of the management API, also while the service runs',
  deliveries: 'lists the durable deliveries of a running service, sends them again, and cancels them',
  schedules: 'lists the schedules of a running service, and runs one now',
}

export const COMMANDS = {
  migrate: {
    summary:
      'updates the tables of DATABASE_URL, as every start does, and exits; stop a service on a SQLite file first',
  },
  'copy-store': {
    summary:
      'copies a store with its API keys and audit log from SQLite to an empty PostgreSQL and verifies the copy; stop the service first',
    options: {
      '--from <url>': { isRequired: true, help: '`sqlite:` and the path of a file' },
      '--to <url>': '`postgres://user:password@host:port/database`; by default DATABASE_URL',
    },
  },
  'keys create': {
    summary: 'creates a key and prints it; it cannot be shown again',
    options: {
      '--name <name>': { isRequired: true, help: 'the person or program that uses the key' },
      '--role <role...>': {
        isRequired: true,
        isMany: true,
        help: 'viewer, operator, author or admin; several may be given',
      },
      '--expires <time>': 'a date, or a time as 2030-12-31T18:00:00Z, from which on the key is not accepted',
    },
  },
  'keys list': { summary: 'lists the keys, including revoked ones' },
  'keys revoke': {
    summary: 'revokes a key; takes effect at once',
    arguments: { '<id>': 'the id of the key, which `keys list` shows' },
  },
  compare: {
    summary:
      'sends messages to an openhim-mediator-mapping and to this service, or replays transactions of OpenHIM here, and lists what differs; exits with 2 if a difference is not deliberate',
    exits: ['differences'],
    options: {
      '--peer <url>': 'the openhim-mediator-mapping to compare with; needs --messages',
      '--messages <folder>': 'the messages to send: files that end in .message.json',
      '--service <url>': 'the service; by default http://127.0.0.1:3003. CROSSWALK_KEY is the API key, if it needs one',
      '--allow-side-effects': 'send also messages whose endpoints send their output on to other systems',
      '--openhim <source>':
        'transactions instead of messages: a file, or the URL of the API (OPENHIM_USERNAME, OPENHIM_PASSWORD)',
      '--endpoints <folder>': 'with --openhim: the endpoint documents, instead of those of --service',
      '--path <from=to>': { isMany: true, help: 'with --openhim: paths that start with FROM there start with TO here' },
      '--limit <number>': {
        number: { min: 1, max: Number.MAX_SAFE_INTEGER, isWhole: true },
        default: '1000',
        help: 'with --openhim: the most transactions',
      },
      '--save-tests <folder>': 'with --openhim: write the transactions as tests of their endpoints',
      '--ignore <pointer>': { isMany: true, help: 'a JSON Pointer within bodies that is not compared' },
      ...KEY_FILE,
      '--json': 'write the whole report as JSON',
    },
  },
  import: {
    summary: 'converts endpoint documents of openhim-mediator-mapping, and reports each change',
    exits: ['findings'],
    arguments: {
      '<source...>': 'files, folders, exports of MongoDB, or the URL of a running openhim-mediator-mapping',
    },
    options: {
      '--output <folder>': { isRequired: true, help: 'the folder for the documents and the report; required' },
      '--report <file>': 'the report, `.md` or `.json`; the other form is beside it',
      '--tables':
        'makes tables of lists of more than 20 codes that several documents repeat; without it, the report names them',
      '--apply <url>': 'registers the documents at a running Crosswalk; the key is in CROSSWALK_KEY',
      '--replace': 'with --apply: replaces endpoints of the same names, and their states',
      '--key-file <file>': 'with --apply: a file that holds the key',
      '--peer-version <version>': 'the version of openhim-mediator-mapping that the documents were written for',
      '--consumer-start <where>': 'where consumers of topics start: `earliest`, `latest` or `group:NAME`',
      '--rebase <from=to>': {
        isMany: true,
        help: 'replaces the first with the second at the start of URLs; repeatable',
      },
    },
  },
  lint: {
    summary:
      'checks endpoint documents as registering them would, offline, and whether they clash; exits with 1 if a document would be refused',
    exits: ['findings'],
    arguments: {
      '[files...]': 'documents, or folders with documents; by default those of crosswalk.json',
    },
    options: {
      ...PROJECT,
      '--strict': 'exit with 1 for warnings too',
      '--target <name>':
        'a target of crosswalk.json, whose values are filled in; by default each of them, one after the other',
      '--format <format>': {
        choices: ['text', 'json', 'sarif', 'github'],
        default: 'text',
        help: 'the form of the report',
      },
    },
  },
  run: {
    summary:
      'runs one message through a document, offline, and prints the answer; nothing is sent on. Exits with 1 if the message fails',
    exits: ['findings'],
    arguments: { '<document>': 'the file of the document' },
    options: {
      ...PROJECT,
      '--input <file>': 'the body of the message; - for standard input',
      '--header <name:value>': { isMany: true, help: 'a header of the message; may be given several times' },
      '--query <name=value>': { isMany: true, help: 'a parameter of its query; may be given several times' },
      '--param <name=value>': { isMany: true, help: 'a parameter of its path; may be given several times' },
      '--scheduled-for <time>':
        'when a run of the schedule was due; the message is such a run then, as it always is if nothing else brings messages',
      '--state <file>': 'what an earlier message left, as JSON',
      '--lookup <id=file>': {
        isMany: true,
        help: 'the answer to a lookup: a file with its body, with another status as id=404:file, or a fault such as id=timeout; several of one id are for the items of its forEach, or its pages',
      },
      '--response <id=file>': {
        isMany: true,
        help: 'the answer to a response request, in the same form; else an empty 200',
      },
      '--live': 'send lookups without an answer, with the secrets of this environment',
      '--stage <stage>': { choices: STAGE_NAMES, help: 'print the value after this stage instead of the answer' },
      ...FILL_TARGET,
      '--json': 'print the whole report of the dry run as JSON',
      '--watch': 'run again when a file changes, until Ctrl-C',
    },
  },
  diff: {
    summary: 'shows what differs between the documents of a project and a running service',
    exits: ['findings', 'differences'],
    arguments: PROJECT_TARGET,
    options: { '--exit-code': 'exits with 2 if something differs', ...SERVICE },
  },
  apply: {
    summary: 'makes a running service have the documents of a project, all of them or none',
    exits: ['findings'],
    arguments: PROJECT_TARGET,
    options: {
      '--yes': 'asks no question',
      '--plan <file>':
        'writes the plan to the file; if the file exists, carries out the plan in it, unless something changed since',
      '--prune': 'deletes endpoints that have the labels of the project and no file',
      '--in-parts': 'makes more than 1,000 changes in several batches, one after the other',
      '--note <text>': 'the note of the versions',
      ...SERVICE,
    },
  },
  pull: {
    summary: 'writes the documents of a running service into the files of a project',
    exits: ['findings'],
    arguments: PROJECT_TARGET,
    options: { '--all': 'also the endpoints that do not have the labels of the project', ...SERVICE },
  },
  render: {
    summary:
      'prints the documents of a project as apply sends them: a list, with the values of the target filled in; references to secrets stay',
    exits: ['findings'],
    arguments: PROJECT_TARGET,
    options: { '--target <name>': SERVICE['--target <name>'], ...PROJECT },
    readsSettings: false,
  },
  messages: {
    summary: 'finds recorded messages of a running service',
    arguments: SERVICE_TARGET,
    options: {
      ...SERVICE,
      '--limit <number>': { number: { min: 1, max: 10_000, isWhole: true }, default: '50', help: 'the most messages' },
      '--follow': 'continues with new messages until Ctrl-C',
      ...FILTERS,
    },
  },
  replay: {
    summary: 'runs recorded messages again: those with the ids, or all that the filters match',
    exits: ['findings'],
    arguments: {
      ...SERVICE_TARGET,
      '[id...]': 'ids of messages',
    },
    options: {
      ...SERVICE,
      '--yes': 'asks no question',
      '--lookups <answers>': {
        choices: REPLAY_LOOKUPS,
        help: 'the answers that were recorded, or asked again; by default recorded for runs of a schedule and lookups with pages',
      },
      '--max <number>': { number: { min: 0, max: 1e9 }, help: 'with filters: the most messages' },
      '--concurrency <number>': { number: { min: 0, max: 1e9 }, help: 'with filters: messages at once; by default 1' },
      '--per-second <number>': {
        number: { min: 0, max: 1e9 },
        help: 'with filters: the most messages that start in a second',
      },
      ...FILTERS,
    },
  },
  'deliveries list': {
    summary: 'lists deliveries, the newest last',
    arguments: SERVICE_TARGET,
    options: {
      ...SERVICE,
      '--limit <number>': {
        number: { min: 1, max: 10_000, isWhole: true },
        default: '50',
        help: 'the most deliveries',
      },
      ...DELIVERY_FILTERS,
    },
  },
  'deliveries show': {
    summary: 'shows deliveries with their attempts',
    arguments: DELIVERIES,
    options: { '--request': 'shows what is sent as well, with its body; needs the role operator', ...SERVICE },
  },
  'deliveries retry': {
    summary: `sends deliveries again, at once: those with the ids, or all that the filters match; without --state, the ${DELIVERY_ACTS.retry} ones`,
    exits: ['findings'],
    arguments: DELIVERIES,
    options: {
      '--now': 'with ids: runs their messages through the present documents, in place of sending the same requests',
      '--body <file>': 'with one id: the body in place of the one that is stored; with --now, that of the message',
      ...CHANGED_DELIVERIES,
    },
  },
  'deliveries cancel': {
    summary: `ends deliveries: those with the ids, or all that the filters match; without --state, the ${DELIVERY_ACTS.cancel} ones`,
    exits: ['findings'],
    arguments: DELIVERIES,
    options: CHANGED_DELIVERIES,
  },
  'schedules list': {
    summary: 'lists the endpoints with a schedule: when each is due next, how its last run ended, and what was skipped',
    arguments: SERVICE_TARGET,
    options: SERVICE,
  },
  'schedules run': {
    summary: 'runs the schedule of an endpoint now and waits for the end; its times stay as they are',
    exits: ['findings'],
    arguments: SERVICE_TARGET,
    options: {
      '--endpoint <name>': { isRequired: true, help: 'the name or the id of the endpoint' },
      '--yes': 'asks no question',
      ...SERVICE,
    },
  },
  new: {
    summary: 'writes a starter document, with a test, in the folder of the project; it never replaces a file',
    note: 'Documents that are derived from pairs of messages and what they become: docs/by-example.md.',
    arguments: { '<name>': 'the name of the endpoint' },
    options: {
      ...PROJECT,
      '--sample <file>':
        'a message, in the format of its ending or as it begins: the document maps its fields, and the test sends it',
      '--examples <folder>':
        'derives the document from messages and what they become: NAME.in.json and NAME.out.json, with the endings of any format; each pair is a test',
      '--openhim <source>':
        'the same from transactions of OpenHIM: a file, or the URL of the API (OPENHIM_USERNAME, OPENHIM_PASSWORD)',
      '--path <start>': 'with --openhim: only transactions whose path starts so',
      '--from-messages <id...>': {
        isMany: true,
        help: 'the same from recorded messages of a running service and what they became; filters find them, too; needs the role operator',
      },
      '--endpoint <name>': FILTERS['--endpoint <name>'],
      '--from <time>': FILTERS['--from <time>'],
      '--to <time>': FILTERS['--to <time>'],
      '--filter <name=value>': FILTERS['--filter <name=value>'],
      '--limit <number>': {
        number: { min: 1, max: MAX_EXAMPLES, isWhole: true },
        help: `the most messages or transactions that become pairs; by default ${MAX_EXAMPLES}`,
      },
      '--answer <place=candidate>': {
        isMany: true,
        help: 'answers a question about a place of the output by one of its candidates; may be given several times',
      },
      '--target <name>': 'the service with the messages: a target of crosswalk.json, or the URL of the admin port',
      ...KEY_FILE,
    },
  },
  openapi: {
    summary:
      'writes OpenAPI 3.1 of endpoint documents, as a service that has them gives it; exits with 1 if one has a fault',
    exits: ['findings'],
    arguments: {
      '[files...]': 'documents or folders with them; by default those of crosswalk.json',
    },
    options: {
      ...PROJECT,
      '-o, --output <file>': 'the file to write; by default standard output',
      ...FILL_TARGET,
      '--title <text>': { default: 'Crosswalk endpoints', help: 'the title of the document' },
      '--api-version <text>': { default: '1', help: 'the version of the document' },
      '--origin <url>': 'the message port as callers reach it; by default PUBLIC_URL, or SERVER_PORT on localhost',
    },
  },
  schema: {
    summary: 'prints the JSON Schema (draft-07) of a kind of file, with which editors check and complete it',
    arguments: {
      '[kind]': {
        choices: ['document', 'tests', 'project'],
        help: 'endpoint documents, which is the default, files of tests, or crosswalk.json',
      },
    },
    readsSettings: false,
  },
  completion: {
    summary: 'prints a script with which a shell completes commands, options and choices',
    note: 'For bash: source <(crosswalk completion bash), the same with zsh; for fish: crosswalk completion fish | source',
    arguments: { '<shell>': { choices: ['bash', 'zsh', 'fish'], help: 'the shell' } },
    readsSettings: false,
  },
  test: {
    summary: 'runs the tests of endpoint documents (x.tests.json beside x.json), offline; exits with 1 if one fails',
    exits: ['findings'],
    arguments: TEST_FILES,
    options: {
      ...PROJECT,
      '--filter <text>': 'only tests whose name contains the text, in any case',
      '--update': 'replace snapshots that differ, and show how',
      '--watch': 'run again when a file changes',
      '--junit <file>': 'write the results as JUnit XML too',
      '--json': 'write the results as JSON',
      '--min-coverage <percent>': {
        number: { min: 0, max: 100 },
        help: 'fail if tests run less of their documents: entries, targets, transforms, requests',
      },
      ...FILL_TARGET,
    },
  },
  coverage: {
    summary:
      'runs the tests of endpoint documents as test does, and lists the parts of each document that no test runs; writes no snapshots',
    exits: ['findings'],
    arguments: TEST_FILES,
    options: { ...PROJECT, '--json': 'write the results as JSON', ...FILL_TARGET },
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>

export type CommandName = keyof typeof COMMANDS

/** The arguments of a command, by what help shows of them. */
export const listArguments = ({ arguments: all = {} }: CommandDeclaration) =>
  Object.entries(all).map(([shown, given]) => {
    const declaration = typeof given === 'string' ? { help: given } : given
    return { shown, name: declaration.as ?? shown.replace(/[^\w-]/g, ''), ...declaration }
  })

/** The options of a command, by what help shows of them. */
export const listOptions = ({ options = {} }: CommandDeclaration) =>
  Object.entries(options).map(([shown, declaration]) => ({
    shown,
    flag: /--[\w-]+/.exec(shown)?.[0] ?? shown,
    takesValue: shown.endsWith('>'),
    ...(typeof declaration === 'string' ? { help: declaration } : declaration),
  }))

type Arguments<Name extends CommandName> = (typeof COMMANDS)[Name] extends { arguments: infer A } ? A : unknown
type Options<Name extends CommandName> = (typeof COMMANDS)[Name] extends { options: infer O } ? O : unknown

type Text<D> = D extends { number: NumberRange } ? number : D extends { choices: readonly (infer C)[] } ? C : string

type ArgumentName<Shown, D> = D extends { as: infer Name extends string }
  ? Name
  : Shown extends `${'<' | '['}${infer Name}...${string}`
    ? Name
    : Shown extends `${'<' | '['}${infer Name}${'>' | ']'}`
      ? Name
      : never

type ArgumentValue<Shown, D> = Shown extends `${string}...${string}`
  ? readonly string[]
  : Shown extends `[${string}`
    ? Text<D> | undefined
    : Text<D>

type CamelCase<Text> = Text extends `${infer Word}-${infer Rest}` ? `${Word}${Capitalize<CamelCase<Rest>>}` : Text

type OptionName<Shown> = Shown extends `${string}--${infer Name} <${string}`
  ? CamelCase<Name>
  : Shown extends `${string}--${infer Name}`
    ? CamelCase<Name>
    : never

type OptionValue<Shown, D> = D extends { isMany: true }
  ? readonly string[]
  : Shown extends `${string}<${string}`
    ? D extends { isRequired: true } | { default: string }
      ? Text<D>
      : Text<D> | undefined
    : boolean

/** What a command is given: its arguments and options by their names, such as `keyFile` of `--key-file <file>`. */
export type Given<Name extends CommandName> = Readonly<
  {
    [Key in keyof Arguments<Name> as ArgumentName<Key, Arguments<Name>[Key]>]: ArgumentValue<Key, Arguments<Name>[Key]>
  } & {
    [Key in keyof Options<Name> as OptionName<Key>]: OptionValue<Key, Options<Name>[Key]>
  }
>

/** How a command may end, beside with a fault. */
export type Ending<Name extends CommandName> =
  | 'done'
  | ((typeof COMMANDS)[Name] extends { exits: readonly (infer E extends Exit)[] } ? E : never)
