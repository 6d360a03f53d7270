/**
 * The table of commands: everything that the command line accepts. Parsing, checks, help, docs/cli.md and completion follow from
 * it, and so does the type of what a command is given. What a command does is in a file of its own, which program.ts loads when
 * it runs: neither `--help` nor a start of the service needs it.
 */
import { STAGE_NAMES } from '../domain/tracing/stages.ts'
import type { Exit } from './command.ts'

export type ArgumentDeclaration = Readonly<{
  help: string
  /** As help shows it, if that is not the name. */
  label?: string
  isOptional?: true
  isMany?: true
  choices?: readonly string[]
}>

export type OptionDeclaration = Readonly<{
  help: string
  /** What help shows for the value: `<file>`. Without it, the option is a flag. */
  value?: string
  letter?: string
  isRequired?: true
  /** It may be given several times, or has several values if `value` ends with dots. */
  isMany?: true
  choices?: readonly string[]
  default?: string
  /** The value is a number, and this which. */
  number?: NumberRange
}>

export type NumberRange = Readonly<{ min: number; max: number; isWhole?: true }>

export type CommandDeclaration = Readonly<{
  summary: string
  /** After the options in the help of the command. */
  note?: string
  arguments?: Readonly<Record<string, ArgumentDeclaration>>
  /** By the name in code; `keyFile` is `--key-file`. */
  options?: Readonly<Record<string, OptionDeclaration>>
  /** How it may end beside `done` and `failed`. */
  exits?: readonly Exit[]
}>

const FILL_TARGET = { value: 'name', help: 'a target of crosswalk.json, whose values are filled in' } as const

const PROJECT = {
  project: {
    value: 'path',
    help: 'crosswalk.json or its folder; by default the nearest at or above the named files, else at or above this folder',
  },
} as const

const KEY_FILE = {
  value: 'file',
  help: 'a file that holds the API key of the service, instead of CROSSWALK_KEY',
} as const

/** Of each command that calls a running service. */
const SERVICE = {
  target: { value: 'name', help: 'the same, as an option' },
  ...PROJECT,
  keyFile: KEY_FILE,
  json: { help: 'writes the result as JSON' },
} as const

const PROJECT_TARGET = {
  label: 'target',
  isOptional: true,
  help: 'a target of crosswalk.json; not needed if it has one only',
} as const

const SERVICE_TARGET = {
  label: 'target',
  isOptional: true,
  help: 'a target of crosswalk.json, or the URL of the admin port',
} as const

const FILTERS = {
  endpoint: { value: 'name', isMany: true, help: 'messages of this endpoint; may be given several times' },
  outcome: { value: 'outcome', isMany: true, help: 'done, partial, refused or failed; may be given several times' },
  code: { value: 'code', isMany: true, help: 'messages that failed with this code; may be given several times' },
  from: { value: 'time', help: 'messages since a time, such as -1h' },
  to: { value: 'time', help: 'messages until a time' },
  filter: { value: 'name=value', isMany: true, help: 'any filter of GET /messages; may be given several times' },
} as const

const TEST_FILES = {
  isOptional: true,
  isMany: true,
  help: 'tests, documents or folders with them; by default those of crosswalk.json, or this folder',
} as const

/** Several words: a command of a group. */
export const GROUPS: Readonly<Record<string, string>> = {
  keys: 'manages the API keys of the management API, also while the service runs',
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
      from: { value: 'url', isRequired: true, help: '`sqlite:` and the path of a file' },
      to: { value: 'url', help: '`postgres://user:password@host:port/database`; by default DATABASE_URL' },
    },
  },
  'keys create': {
    summary: 'creates a key and prints it; it cannot be shown again',
    options: {
      name: { value: 'name', isRequired: true, help: 'the person or program that uses the key' },
      role: {
        value: 'role...',
        isRequired: true,
        isMany: true,
        help: 'viewer, operator, author or admin; several may be given',
      },
      expires: {
        value: 'time',
        help: 'a date, or a time as 2030-12-31T18:00:00Z, from which on the key is not accepted',
      },
    },
  },
  'keys list': { summary: 'lists the keys, including revoked ones' },
  'keys revoke': {
    summary: 'revokes a key; takes effect at once',
    arguments: { id: { help: 'the id of the key, which `keys list` shows' } },
  },
  compare: {
    summary:
      'sends messages to an openhim-mediator-mapping and to this service, or replays transactions of OpenHIM here, and lists what differs; exits with 2 if a difference is not deliberate',
    exits: ['differences'],
    options: {
      peer: { value: 'url', help: 'the openhim-mediator-mapping to compare with; needs --messages' },
      messages: { value: 'folder', help: 'the messages to send: files that end in .message.json' },
      service: {
        value: 'url',
        help: 'the service; by default http://127.0.0.1:3003. CROSSWALK_KEY is the API key, if it needs one',
      },
      allowSideEffects: { help: 'send also messages whose endpoints send their output on to other systems' },
      openhim: {
        value: 'source',
        help: 'transactions instead of messages: a file, or the URL of the API (OPENHIM_USERNAME, OPENHIM_PASSWORD)',
      },
      endpoints: {
        value: 'folder',
        help: 'with --openhim: the endpoint documents, instead of those of --service',
      },
      path: {
        value: 'from=to',
        isMany: true,
        help: 'with --openhim: paths that start with FROM there start with TO here',
      },
      limit: {
        value: 'number',
        number: { min: 1, max: Number.MAX_SAFE_INTEGER, isWhole: true },
        default: '1000',
        help: 'with --openhim: the most transactions',
      },
      saveTests: { value: 'folder', help: 'with --openhim: write the transactions as tests of their endpoints' },
      ignore: { value: 'pointer', isMany: true, help: 'a JSON Pointer within bodies that is not compared' },
      keyFile: KEY_FILE,
      json: { help: 'write the whole report as JSON' },
    },
  },
  import: {
    summary: 'converts endpoint documents of openhim-mediator-mapping, and reports each change',
    exits: ['findings'],
    arguments: {
      sources: {
        label: 'source',
        isMany: true,
        help: 'files, folders, exports of MongoDB, or the URL of a running openhim-mediator-mapping',
      },
    },
    options: {
      output: { value: 'folder', isRequired: true, help: 'the folder for the documents and the report; required' },
      report: { value: 'file', help: 'the report, `.md` or `.json`; the other form is beside it' },
      apply: { value: 'url', help: 'registers the documents at a running Crosswalk; the key is in CROSSWALK_KEY' },
      replace: { help: 'with --apply: replaces endpoints of the same names, and their states' },
      keyFile: { value: 'file', help: 'with --apply: a file that holds the key' },
      peerVersion: {
        value: 'version',
        help: 'the version of openhim-mediator-mapping that the documents were written for',
      },
      consumerStart: {
        value: 'where',
        help: 'where consumers of topics start: `earliest`, `latest` or `group:NAME`',
      },
      rebase: {
        value: 'from=to',
        isMany: true,
        help: 'URLs that start with the first get the second in its place; may be given several times',
      },
    },
  },
  lint: {
    summary:
      'checks endpoint documents as registering them would, offline, and whether they clash; exits with 1 if a document would be refused',
    exits: ['findings'],
    arguments: {
      files: {
        isOptional: true,
        isMany: true,
        help: 'documents, or folders with documents; by default those of crosswalk.json',
      },
    },
    options: {
      ...PROJECT,
      strict: { help: 'exit with 1 for warnings too' },
      target: {
        value: 'name',
        help: 'a target of crosswalk.json, whose values are filled in; by default each of them in turn',
      },
      format: {
        value: 'format',
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
    arguments: { document: { help: 'the file of the document' } },
    options: {
      ...PROJECT,
      input: { value: 'file', help: 'the body of the message; - for standard input' },
      header: { value: 'name:value', isMany: true, help: 'a header of the message; may be given several times' },
      query: { value: 'name=value', isMany: true, help: 'a parameter of its query; may be given several times' },
      param: { value: 'name=value', isMany: true, help: 'a parameter of its path; may be given several times' },
      state: { value: 'file', help: 'what an earlier message left, as JSON' },
      lookup: {
        value: 'id=file',
        isMany: true,
        help: 'the answer to a lookup: a file with its body, with another status as id=404:file, or a fault such as id=timeout; several of one id are for the items of its forEach',
      },
      response: {
        value: 'id=file',
        isMany: true,
        help: 'the answer to a response request, in the same form; else an empty 200',
      },
      live: { help: 'send lookups without an answer, with the secrets of this environment' },
      stage: {
        value: 'stage',
        choices: STAGE_NAMES,
        help: 'print the value after this stage instead of the answer',
      },
      target: FILL_TARGET,
      json: { help: 'print the whole report of the dry run as JSON' },
      watch: { help: 'run again when a file changes, until Ctrl-C' },
    },
  },
  diff: {
    summary: 'shows what differs between the documents of a project and a running service',
    exits: ['findings', 'differences'],
    arguments: { namedTarget: PROJECT_TARGET },
    options: { exitCode: { help: 'exits with 2 if something differs' }, ...SERVICE },
  },
  apply: {
    summary: 'makes a running service have the documents of a project, all of them or none',
    exits: ['findings'],
    arguments: { namedTarget: PROJECT_TARGET },
    options: {
      yes: { help: 'asks no question' },
      plan: {
        value: 'file',
        help: 'writes the plan, if there is no such file; else makes that plan, unless something changed',
      },
      prune: { help: 'deletes endpoints that have the labels of the project and no file' },
      inParts: { help: 'makes more than 1,000 changes in several batches, one after the other' },
      note: { value: 'text', help: 'the note of the versions' },
      ...SERVICE,
    },
  },
  pull: {
    summary: 'writes the documents of a running service into the files of a project',
    exits: ['findings'],
    arguments: { namedTarget: PROJECT_TARGET },
    options: { all: { help: 'also the endpoints that do not have the labels of the project' }, ...SERVICE },
  },
  messages: {
    summary: 'finds recorded messages of a running service',
    arguments: { namedTarget: SERVICE_TARGET },
    options: {
      ...SERVICE,
      limit: {
        value: 'number',
        number: { min: 1, max: 10_000, isWhole: true },
        default: '50',
        help: 'the most messages',
      },
      follow: { help: 'goes on with new messages, until Ctrl-C' },
      ...FILTERS,
    },
  },
  replay: {
    summary: 'runs recorded messages again: those with the ids, or all that the filters match',
    exits: ['findings'],
    arguments: {
      namedTarget: SERVICE_TARGET,
      ids: { label: 'id', isOptional: true, isMany: true, help: 'ids of messages' },
    },
    options: {
      ...SERVICE,
      yes: { help: 'asks no question' },
      max: { value: 'number', number: { min: 0, max: 1e9 }, help: 'with filters: the most messages' },
      concurrency: {
        value: 'number',
        number: { min: 0, max: 1e9 },
        help: 'with filters: messages at once; by default 1',
      },
      perSecond: {
        value: 'number',
        number: { min: 0, max: 1e9 },
        help: 'with filters: the most messages that start in a second',
      },
      ...FILTERS,
    },
  },
  new: {
    summary: 'writes a starter document, with a test, in the folder of the project; it never replaces a file',
    arguments: { name: { help: 'the name of the endpoint' } },
    options: {
      ...PROJECT,
      sample: {
        value: 'file',
        help: 'a message in JSON or XML: the document takes its fields, the test the message',
      },
    },
  },
  openapi: {
    summary:
      'writes OpenAPI 3.1 of endpoint documents, as a service that has them gives it; exits with 1 if one has a fault',
    exits: ['findings'],
    arguments: {
      files: {
        isOptional: true,
        isMany: true,
        help: 'documents or folders with them; by default those of crosswalk.json',
      },
    },
    options: {
      ...PROJECT,
      output: { value: 'file', letter: 'o', help: 'the file to write; by default standard output' },
      target: FILL_TARGET,
      title: { value: 'text', default: 'Crosswalk endpoints', help: 'the title of the document' },
      apiVersion: { value: 'text', default: '1', help: 'the version of the document' },
      origin: {
        value: 'url',
        help: 'the message port as callers reach it; by default PUBLIC_URL, or SERVER_PORT on localhost',
      },
    },
  },
  completion: {
    summary: 'prints a script with which a shell completes commands, options and choices',
    note: 'For bash: source <(crosswalk completion bash), the same with zsh; for fish: crosswalk completion fish | source',
    arguments: { shell: { choices: ['bash', 'zsh', 'fish'], help: 'the shell' } },
  },
  test: {
    summary: 'runs the tests of endpoint documents (x.tests.json beside x.json), offline; exits with 1 if one fails',
    exits: ['findings'],
    arguments: { files: TEST_FILES },
    options: {
      ...PROJECT,
      filter: { value: 'text', help: 'only tests whose name contains the text, in any case' },
      update: { help: 'replace snapshots that differ, and show how' },
      watch: { help: 'run again when a file changes' },
      junit: { value: 'file', help: 'write the results as JUnit XML too' },
      json: { help: 'write the results as JSON' },
      minCoverage: {
        value: 'percent',
        number: { min: 0, max: 100 },
        help: 'fail if tests run less of their documents: entries, targets, transforms, requests',
      },
      target: FILL_TARGET,
    },
  },
  coverage: {
    summary:
      'runs the tests of endpoint documents as test does, and lists the parts of each document that no test runs; writes no snapshots',
    exits: ['findings'],
    arguments: { files: TEST_FILES },
    options: { ...PROJECT, json: { help: 'write the results as JSON' }, target: FILL_TARGET },
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>

export type CommandName = keyof typeof COMMANDS

/** `[files...]` */
export function shownArgument(name: string, { label = name, isOptional, isMany }: ArgumentDeclaration): string {
  const shown = `${label}${isMany ? '...' : ''}`
  return isOptional ? `[${shown}]` : `<${shown}>`
}

/** `-o, --output <file>` */
export const shownOption = (name: string, { value, letter }: OptionDeclaration): string =>
  `${letter === undefined ? '' : `-${letter}, `}${flagOf(name)}${value === undefined ? '' : ` <${value}>`}`

/** `--key-file` of `keyFile`. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

type ArgumentsOf<D> = D extends { arguments: infer A } ? A : unknown
type OptionsOf<D> = D extends { options: infer O } ? O : unknown

type Text<D> = D extends { number: NumberRange } ? number : D extends { choices: readonly (infer C)[] } ? C : string

type ArgumentValue<D> = D extends { isMany: true }
  ? readonly string[]
  : D extends { isOptional: true }
    ? Text<D> | undefined
    : Text<D>

type OptionValue<D> = D extends { isMany: true }
  ? readonly string[]
  : D extends { value: string }
    ? D extends { isRequired: true } | { default: string }
      ? Text<D>
      : Text<D> | undefined
    : boolean

/** What a command is given: its arguments and options by their names. */
export type Given<Name extends CommandName> = Readonly<
  { [Key in keyof ArgumentsOf<(typeof COMMANDS)[Name]>]: ArgumentValue<ArgumentsOf<(typeof COMMANDS)[Name]>[Key]> } & {
    [Key in keyof OptionsOf<(typeof COMMANDS)[Name]>]: OptionValue<OptionsOf<(typeof COMMANDS)[Name]>[Key]>
  }
>

/** How a command may end, beside with a fault. */
export type Ending<Name extends CommandName> =
  | 'done'
  | ((typeof COMMANDS)[Name] extends { exits: readonly (infer E extends Exit)[] } ? E : never)
