/** Registers the documents of an import at a running service, all in one batch. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { contentOf } from '../../domain/stored-document.ts'

export type Registration = Readonly<{
  file: string
  document: JsonObject
  /** The document with every default, as the service would store it. */
  stored: JsonObject
  state: JsonObject | undefined
}>

export type RegisterOptions = Readonly<{
  url: string
  /** API key or access token. */
  key: string | undefined
  /** Endpoints of the same name are replaced; without it, one that differs is a fault. */
  replaces: boolean
  timeoutMs: number
}>

/** `faults`: sentences; with one, nothing was registered. */
export type RegisterResult = Readonly<{
  created: number
  replaced: number
  unchanged: number
  /** Of the documents that were registered, such as a secret that the service does not have. */
  warnings: readonly string[]
  faults: readonly string[]
}>

/** As many as the service takes in one batch. */
const MOST_OPERATIONS = 1_000

/** Never throws. */
export async function registerDocuments(
  documents: readonly Registration[],
  options: RegisterOptions,
): Promise<RegisterResult> {
  let files: readonly string[] = []
  try {
    const known = endpointsByName(await call(options, 'GET', '/endpoints'))
    const planned = plan(documents, known, options)
    files = planned.operations.map(({ file }) => file)
    if (planned.faults.length > 0) return failed(planned.faults)
    if (planned.operations.length > MOST_OPERATIONS) {
      return failed([
        `There are ${planned.operations.length} documents, and a batch has at most ${MOST_OPERATIONS}; import them in parts.`,
      ])
    }
    const operations = planned.operations.map(({ operation }) => operation)
    const body = { operations, note: 'crosswalk import' }
    const answer = operations.length === 0 ? {} : await call(options, 'POST', '/endpoints/batch', body)
    const count = (op: string) => planned.operations.filter(({ operation }) => operation.op === op).length
    return {
      created: count('create'),
      replaced: count('replace'),
      unchanged: planned.unchanged,
      warnings: warningsByFile(answer, files),
      faults: [],
    }
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault)) throw thrown
    return failed(thrown.details.length === 0 ? [thrown.message] : faultsByFile(thrown.details, files, thrown.message))
  }
}

const failed = (faults: readonly string[]): RegisterResult => ({
  created: 0,
  replaced: 0,
  unchanged: 0,
  warnings: [],
  faults,
})

type Operation = Readonly<{ op: 'create' | 'replace'; id?: string; document: JsonObject; state?: JsonObject }>
type Plan = Readonly<{
  operations: readonly Readonly<{ file: string; operation: Operation }>[]
  unchanged: number
  faults: readonly string[]
}>

function plan(
  documents: readonly Registration[],
  known: ReadonlyMap<Json | undefined, JsonObject>,
  { url, replaces }: RegisterOptions,
): Plan {
  const operations: { file: string; operation: Operation }[] = []
  const faults: string[] = []
  let unchanged = 0
  for (const { file, document, stored, state } of documents) {
    const there = known.get(document.name)
    const initial = state === undefined ? {} : { state }
    if (there === undefined) {
      operations.push({ file, operation: { op: 'create', document, ...initial } })
    } else if (isSameContent(there, stored) && (state === undefined || !replaces)) {
      unchanged++
    } else if (replaces) {
      operations.push({ file, operation: { op: 'replace', id: String(there._id), document, ...initial } })
    } else {
      faults.push(
        `${file}: ${url} has another endpoint with the name ${JSON.stringify(document.name)}; rename one, or give --replace to replace it.`,
      )
    }
  }
  return { operations, unchanged, faults }
}

/** JSON, so that properties which are undefined do not count. */
const isSameContent = (one: JsonObject, other: JsonObject): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(contentOf(one))), JSON.parse(JSON.stringify(contentOf(other))))

function endpointsByName(answer: Json): ReadonlyMap<Json | undefined, JsonObject> {
  if (!Array.isArray(answer))
    throw new ServiceFault('The service answered GET /endpoints with no list; is the URL right?')
  return new Map(answer.filter(isObject).map((document) => [document.name, document]))
}

class ServiceFault extends Error {
  readonly details: readonly JsonObject[]
  constructor(message: string, details: readonly JsonObject[] = []) {
    super(message)
    this.details = details
  }
}

/** Throws ServiceFault, which never has the key. */
async function call(
  { url, key, timeoutMs }: RegisterOptions,
  method: string,
  path: string,
  body?: Json,
): Promise<Json> {
  let response: Response
  let text: string
  try {
    response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method,
      // A redirect would take the key elsewhere.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept: 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    text = await response.text()
  } catch (thrown) {
    const code =
      thrown instanceof Error && thrown.cause instanceof Error && 'code' in thrown.cause
        ? ` (${thrown.cause.code})`
        : ''
    const advice =
      method === 'GET'
        ? 'Check the address, and that Crosswalk runs.'
        : 'It may have registered the documents; run the import again to see.'
    throw new ServiceFault(`${url} did not answer ${method} ${path}${code}. ${advice}`)
  }
  const answer = jsonOf(text)
  if (response.ok && answer !== undefined) return answer
  if (response.ok) {
    throw new ServiceFault(
      `${url} answered ${method} ${path} with no JSON; is the URL that of Crosswalk, or of a proxy?`,
    )
  }
  const { error, details } = isObject(answer) ? answer : {}
  const sentence = typeof error === 'string' ? `: ${error}` : '.'
  const hint = hintOf(response.status)
  const faults = Array.isArray(details) ? details.filter(isObject) : []
  throw new ServiceFault(`${url} answered ${method} ${path} with status ${response.status}${sentence}${hint}`, faults)
}

function hintOf(status: number): string {
  if (status === 401 || status === 403) return ' Give a key of the role author in CROSSWALK_KEY or --key-file.'
  return status >= 300 && status < 400 ? ' Give the URL to which it redirects.' : ''
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A line for each fault of the batch, with the file of its document. */
const faultsByFile = (
  details: readonly JsonObject[],
  files: readonly string[],
  sentence: string,
): readonly string[] => [sentence, ...details.map((detail) => sentenceOf(detail, files))]

function warningsByFile(answer: Json, files: readonly string[]): readonly string[] {
  const results = isObject(answer) && Array.isArray(answer.results) ? answer.results.filter(isObject) : []
  return results.flatMap(({ operation, warnings }) =>
    (Array.isArray(warnings) ? warnings.filter(isObject) : []).map((warning) =>
      sentenceOf({ ...warning, operation: operation ?? null }, files),
    ),
  )
}

function sentenceOf({ operation, path, message }: JsonObject, files: readonly string[]): string {
  const file = typeof operation === 'number' ? files[operation] : undefined
  const place = typeof path === 'string' && path !== '' ? `${path}: ` : ''
  return `${file === undefined ? '' : `${file}: `}${place}${String(message)}`
}
