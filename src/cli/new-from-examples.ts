/** `crosswalk new` with pairs of messages and what they become: derives a document, with a test of each pair. */
import { ComparisonImpossible } from '../../migrate/compare/comparison.ts'
import { pairTransactions } from '../../migrate/compare/transaction-pairs.ts'
import { createOfflineServices, createOfflineTests } from '../app/offline.ts'
import { MAX_EXAMPLE_BYTES, MAX_EXAMPLES } from '../core/examples.ts'
import { Failure } from '../core/failure.ts'
import type { JsonObject } from '../core/json.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { ActiveTable, TableSet } from '../core/tables/table-set.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { Settings } from '../settings/settings.ts'
import { readTableValue } from '../tables/table-thread.ts'
import { createRunPairs } from '../try/suggestions/by-example/run-pairs.ts'
import { suggestByExample } from '../try/suggestions/suggest.ts'
import type { ByExample, Suggested } from '../try/suggestions/suggest-answer.ts'
import type { SuggestRequest } from '../try/suggestions/suggest-request.ts'
import { checkTestFile } from '../try/tests/check-test-file.ts'
import type { TestReport } from '../try/tests/test-file.ts'
import { CommandFault, counted, sentenceAt, type Terminal } from './command.ts'
import type { Given } from './commands.ts'
import { createCredentialNames } from './deployment/credential-names.ts'
import { pulledDocument } from './deployment/pulled-document.ts'
import { openService } from './deployment/service.ts'
import { type NamedExample, readExampleFiles } from './example-files.ts'
import { type Filters, findAll, readAssignments, readFilters } from './ids-or-filters.ts'
import { readOpenhim } from './openhim-source.ts'
import { escapeValues } from './project/project-documents.ts'
import { ServiceFault } from './service-client/management-client.ts'

type NewGiven = Given<'new'>
type Question = ByExample['questions'][number]

/** `names`: of the pairs. */
type Found = Readonly<{
  found: ByExample & Pick<Suggested, 'tests' | 'notRead'>
  names: readonly string[]
  notes: readonly string[]
}>

/** `notes`: how much was found, and what is left to ask. */
export type Derived = Readonly<{
  document: JsonObject
  tests: JsonObject
  tables: TableSet
  notes: readonly string[]
}>

/** Transactions that are looked at: not all are pairs. */
const MAX_TRANSACTIONS = 5_000

/** `wanted`: the document; `keepCodes`: without a project, which is where tables are. Throws CommandFault, ServiceFault. */
export async function derive(
  given: NewGiven,
  wanted: Readonly<{ name: string; pattern: string; keepCodes: boolean }>,
  settings: Settings,
  terminal: Terminal,
): Promise<Derived> {
  const logger = createLogger({ ...settings, logLevel: 'error' })
  const { found, names, notes } = await findDocument(given, wanted, { settings, logger }, terminal)
  const { endpoint, tables: rows, tests = [] } = found
  const tables = new Map<string, ActiveTable>()
  for (const [name, list] of Object.entries(rows)) {
    const reading = await readTableValue([...list])
    if (!reading.ok)
      throw new CommandFault(reading.faults.map(({ path, message }) => sentenceAt(`tables.${name}${path}`, message)))
    tables.set(name, { name, version: 0, table: reading.table })
  }
  const run = createOfflineTests(settings, logger, tables)
  const failing = describeFailing(await run(endpoint, checkTestFile({ tests }).file), found.questions)
  return { document: endpoint, tests: { tests }, tables, notes: [...notes, ...describe(found, names), ...failing] }
}

type Here = Readonly<{ settings: Settings; logger: Logger }>

async function findDocument(
  given: NewGiven,
  wanted: Parameters<typeof derive>[1],
  here: Here,
  terminal: Terminal,
): Promise<Found> {
  const { settings } = here
  const { examples, openhim, path, limit = MAX_EXAMPLES } = given
  const answers = Object.fromEntries(readAssignments('answer', given.answer, 'name=requestBody.name'))
  const asked = { ...wanted, ...(given.answer.length === 0 ? {} : { answers }) }
  if (examples !== undefined) {
    const read = readExampleFiles(examples, settings)
    return { ...(await deriveHere(read.examples, asked, here)), notes: read.notes }
  }
  if (openhim !== undefined) {
    const limits = { path, maxPairs: limit, maxBytes: MAX_EXAMPLE_BYTES }
    const { pairs, notes } = await readOpenhim(openhim, MAX_TRANSACTIONS, settings)
      .then((transactions) => pairTransactions(transactions, limits))
      .catch((thrown: unknown) => {
        throw thrown instanceof ComparisonImpossible ? new CommandFault(thrown.message) : thrown
      })
    return { ...(await deriveHere(pairs, asked, here)), notes }
  }
  return deriveAtService(given, asked, terminal)
}

async function deriveHere(
  examples: readonly NamedExample[],
  wanted: Pick<SuggestRequest, 'name' | 'pattern' | 'keepCodes' | 'answers'>,
  { settings, logger }: Here,
): Promise<Omit<Found, 'notes'>> {
  const runPairs = createRunPairs({ services: createOfflineServices(settings), settings, logger })
  const names = examples.map(({ name }) => name)
  const given = examples.map(({ message, ...rest }, index) => ({ index, given: { message }, ...rest }))
  try {
    return {
      found: await suggestByExample(wanted, { examples: given, kept: {}, notRead: [] }, {}, settings, runPairs),
      names,
    }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const details = (thrown.options.details ?? []) as readonly JsonObject[]
    throw new CommandFault(details.length === 0 ? thrown.message : details.map((one) => nameExample(one, names)))
  }
}

/** The service has the messages, and what their endpoints looked up. */
async function deriveAtService(
  given: NewGiven,
  wanted: Parameters<typeof deriveHere>[1] & Readonly<{ name: string }>,
  terminal: Terminal,
): Promise<Found> {
  const client = openService({ ...given, namedTarget: undefined }, { role: 'operator' }, terminal.env)
  const ids = given.fromMessages.length > 0 ? given.fromMessages : await findMessages()
  const names = ids.map((id) => `message ${id}`)
  try {
    const examples = ids.map((messageId) => ({ messageId }))
    const answer = await client.call('POST', '/endpoints/suggest', { ...wanted, examples })
    const found = answer as unknown as Found['found']
    const credentials: string[] = []
    const references = createCredentialNames()
    const endpoint = pulledDocument(found.endpoint, undefined, {
      labels: {},
      refer: (value, location) => {
        const reference = references.refer(value, wanted.name, ...location.map(String).slice(-2))
        credentials.push(
          `The service holds a credential that is ${reference} in the file; set it where the service runs.`,
        )
        return reference
      },
      escapeText: escapeValues,
      writeText: () => false,
    })
    const notRead = (found.notRead ?? []).map(({ part, reason }) => nameExample({ path: part, message: reason }, names))
    return { found: { ...found, endpoint }, names, notes: [...notRead, ...credentials] }
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault) || thrown.status !== 400 || thrown.details.length === 0) throw thrown
    throw new CommandFault(thrown.details.map((one) => nameExample(one, names)))
  }

  async function findMessages(): Promise<readonly string[]> {
    const filters = filtersOf(given)
    const found = await findAll(client, 'messages', [...filters, ['outcome', 'done']], given.limit ?? MAX_EXAMPLES)
    if (found.length === 0) throw new CommandFault(`${client.url} has no messages with the outcome done that match.`)
    return found.map(({ id }) => String(id)).reverse()
  }
}

export const filtersOf = ({ endpoint, from, to, filter }: NewGiven): Filters =>
  readFilters({ endpoint, from, to }, filter, 'source=http')

/** A fault of an example, with the name of the pair. */
function nameExample({ path, message }: JsonObject, names: readonly string[]): string {
  const [whole, index] = /^examples\[(\d+)\]/.exec(String(path)) ?? []
  const name = names[Number(index)]
  return whole === undefined || name === undefined ? sentenceAt(path, message) : `${name}: ${message}`
}

function describe({ heldBack, questions, evidence, cut }: ByExample, names: readonly string[]): readonly string[] {
  const { pairs, leaves, right, asked, wrong } = heldBack
  const shown = questions.flatMap(({ target, reason, message, source, examples, candidates }) => {
    const values = examples.map(({ pair, value }) => `${JSON.stringify(value)} (${names[pair]})`).join(', ')
    const more = source === undefined ? '' : ` For now: ${source}`
    const others = candidates.some((one) => one !== source) ? candidates : []
    return [
      `${target}: ${message}${reason === 'unexplained' && values !== '' ? ` They have ${values}.` : more}`,
      ...others.map((one) => `  ${one}`),
    ]
  })
  const hasChoices = shown.some((line) => line.startsWith('  '))
  return [
    `${evidence.length} places of the output were found, ${questions.length} are questions.`,
    ...(pairs === 0
      ? [
          'One pair decides little: give two or three more with other values, one with everything left out that may be missing.',
        ]
      : [
          `${counted(pairs, 'pair')} ${pairs === 1 ? 'was' : 'were'} held back: of ${leaves} values, ${right} came out right, ${asked} are asked about, and ${leaves - right - asked} were wrong.`,
        ]),
    ...wrong.map(
      ({ pair, target, expected, actual }) =>
        `  ${names[pair]}: ${target} was ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
    ),
    ...(cut ? ['There is more in the pairs than is looked at.'] : []),
    ...shown,
    ...(hasChoices
      ? ["To choose, remove the files and run this again with --answer 'PLACE=CANDIDATE' of such lines."]
      : []),
  ]
}

/** Which tests fail until which questions are answered. */
function describeFailing({ tests }: TestReport, questions: readonly Question[]): readonly string[] {
  const failed = tests.filter(({ verdict }) => verdict === 'failed')
  const unmade = questions.filter(({ source }) => source === undefined)
  const byTargets = Map.groupBy(failed, ({ mismatches }) =>
    unmade
      .filter((question) => mismatches.some(({ path }) => isAbout(question, path)))
      .map(({ target }) => target)
      .join(', '),
  )
  return [...byTargets].map(([targets, own]) => {
    const names = own.map(({ name }) => name).join(', ')
    return `${counted(own.length, 'test')} of ${tests.length} (${names}) will pass when the document makes ${targets || 'what is listed'}.`
  })
}

/** `path`: of a mismatch, a JSON Pointer. Its body is within the root that an output in XML has. */
function isAbout({ target }: Question, path: string): boolean {
  const segments = path.replace(/^\/expect\/(?:answer\/body|mapped)\/?/, '').split('/')
  const steps = segments.map((name) => (/^\d+$/.test(name) ? '[]' : name.replace(/~1/g, '/').replace(/~0/g, '~')))
  const asked = target.replace(/\[\d*\]/g, '.[]').split('.')
  const begins = (names: readonly string[]) => names.every((name, at) => at >= steps.length || name === steps[at])
  return target === '$' || begins(asked) || (asked.length > 1 && begins(asked.slice(1)))
}
