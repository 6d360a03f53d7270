/**
 * Two instances on one PostgreSQL are killed at random moments while two tables change all the time, always together, and a part
 * of the time together with the endpoint that reads them:
 * `node bin/node.js test/system/instances/table-kills.ts [--kills 200] [--seed 1]`. Every cell of a version has its number, so
 * each answer shows what its message read. A document reads a column that is named for it: an earlier or later one finds it
 * no more. Exits with 1 if a message mixed versions, or if its record names another one.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json } from '../../support/endpoint-document.ts'
import { startUpstream } from '../../support/service.ts'
import { createDatabase } from '../../support/services/postgres.ts'
import { until } from '../../support/until.ts'
import { createRandom } from '../crash/random.ts'
import { type Instance, keepRunning } from '../deliveries/kills.ts'

type Options = Readonly<{ databaseUrl: string; kills: number; seed: number; report?: (line: object) => void }>

export type TableKillReport = Readonly<{
  faults: readonly string[]
  kills: number
  /** The last one of both tables. */
  version: number
  /** Changes of the tables together with their endpoint. */
  joint: number
  /** Messages by the status of their answer, or 0 for a lost connection. */
  answers: Readonly<Record<string, number>>
  /** Answers whose records were found, and the versions that these name. */
  records: number
  versionsRead: number
  documentsRead: number
}>

const INSTANCES = 2
const SENDERS = 6
const ROWS = 200
const START_MS = 120_000
/** Messages between two kills. */
const ANSWERS_BETWEEN = 20
/** Answers whose records are looked at. */
const MAX_RECORDS = 3_000

/** What is stored now. `document`: the version of the tables that the document of the endpoint came with. */
type Stored = Readonly<{ version: number; document: number }>

const tableOf = ({ version, document }: Stored) => ({
  columns: ['code', 'x', 'y', columnOf(document)],
  rows: Array.from({ length: ROWS }, (_, row) => [`c${row}`, ...Array<string>(3).fill(`${version}`)]),
})

const columnOf = (document: number): string => `of ${document}`
const documentOf = (column = ''): number => Number(column.slice('of '.length))

const cell = (table: string, column: string) => ({
  key: `${table}.${column}`,
  transform: { function: 'table', parameters: { table, column } },
})

/** A row is looked up as the message starts, the other cells when the slow system has answered. */
const endpoint = (slow: string, document: number) => ({
  name: 'Read',
  endpoint: { pattern: '/read' },
  constants: { document },
  requests: {
    lookup: [
      { id: 'row', config: { url: 'table://a', params: { query: { code: { path: 'payload.code' } } } } },
      { id: 'slow', config: { url: slow } },
    ],
  },
  inputMapping: {
    'lookupRequests.row.data.version': 'row.version',
    'lookupRequests.row.data.row.x': 'row.x',
    'constants.document': 'document',
    'requestBody.code': ['a', 'b'].flatMap((table) => ['x', 'y', columnOf(document)].map((one) => cell(table, one))),
  },
})

/** `document`: which one gave the answer. */
type Read = Readonly<{ id: string; version: number; document: number }>

type Called = Readonly<{ status: number; id: string; body: JsonObject }>

/** Status 0: the instance ended before its answer. */
async function call(url: string, init: RequestInit): Promise<Called> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) })
    const id = response.headers.get('x-crosswalk-message-id') ?? ''
    return { status: response.status, id, body: (await response.json()) as JsonObject }
  } catch {
    return { status: 0, id: '', body: {} }
  }
}

/** A batch for an earlier version may have other faults, too: those of the tables that the endpoint reads by now. */
const isStale = ({ details }: JsonObject): boolean =>
  Array.isArray(details) && details.some((one) => isObject(one) && one.code === 'PRECONDITION_FAILED')

export async function killWhileTablesChange(options: Options): Promise<TableKillReport> {
  const { databaseUrl, kills, seed, report = () => undefined } = options
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-table-kills-'))
  const slow = await startUpstream(async () => {
    await pause(random.below(60))
    return {}
  })
  let isOver = false
  let isSending = true
  const faults: string[] = []
  const started = await Promise.all(
    Array.from({ length: INSTANCES }, () => keepRunning(folder, databaseUrl, faults, () => isOver)),
  )
  const instances = started.map(({ instance }) => instance)
  const any = (): Instance => instances[random.below(INSTANCES)] as Instance
  const answers: Record<string, number> = {}
  const read: Read[] = []
  let stored: Stored = { version: 0, document: 0 }
  let joint = 0
  let id: string | undefined

  /** Both tables in one batch, half of the time with the endpoint. An answer that was lost leaves it open whether they changed. */
  const change = async (): Promise<void> => {
    const { version } = stored
    const isJoint = id === undefined || random.chance(0.5)
    const next: Stored = { version: version + 1, document: isJoint ? version + 1 : stored.document }
    const put = ['a', 'b'].map((table) => ({
      op: 'putTable',
      table,
      content: tableOf(next),
      ...(version > 0 && { ifMatch: `"${version}.json"` }),
    }))
    const document = endpointDocument(endpoint(slow.url, next.document))
    const write = { ...(id === undefined ? { op: 'create' } : { op: 'replace', id }), document }
    const operations: Json = isJoint ? [write, ...put] : put
    const { adminUrl } = any()
    const { status, body } = await call(`${adminUrl}/endpoints/batch`, json('POST', { operations }))
    if (status === 200) {
      stored = next
      if (isJoint) joint += 1
      id ??= (body.results as readonly { id: string }[])[0]?.id
    } else if (status === 412 || isStale(body)) {
      const page = await call(`${adminUrl}/tables/a/rows?limit=1`, {})
      const { version: found, columns } = page.body as Readonly<{ version: number; columns: readonly string[] }>
      if (page.status === 200) stored = { version: found, document: documentOf(columns[3]) }
    } else if (status !== 0 && status !== 503) faults.push(`A change was answered ${status}: ${JSON.stringify(body)}`)
  }
  const write = async (): Promise<void> => {
    while (isSending) {
      await change()
      await pause(random.below(30))
    }
  }
  const send = async (): Promise<void> => {
    while (isSending) {
      const code = `c${random.below(ROWS)}`
      const { status, id, body } = await call(`${any().url}/read`, json('POST', { code }))
      answers[status] = (answers[status] ?? 0) + 1
      if (status === 0) await pause(100)
      if (status !== 200) {
        if (status !== 0 && status !== 503) faults.push(`${id} was answered ${status}: ${JSON.stringify(body)}`)
        continue
      }
      const { row, a, b, document } = body as Record<string, JsonObject> & Readonly<{ document: number }>
      const cells = [a, b].flatMap((one) => ['x', 'y', columnOf(document)].map((column) => one?.[column]))
      const seen = new Set([row?.version, row?.x, ...cells].map(String))
      const version = Number(row?.version)
      if (seen.size !== 1 || document > version) faults.push(`${id} mixed versions: ${JSON.stringify(body)}`)
      read.push({ id, version, document })
    }
  }
  const check = async ({ id, version: seen }: Read): Promise<boolean> => {
    const { status, body } = await call(`${any().adminUrl}/messages/${id}`, {})
    // An instance that was killed had not stored its last records.
    if (status !== 200) return false
    const tables = JSON.stringify(body.tables)
    if (tables !== JSON.stringify({ a: seen, b: seen })) faults.push(`${id} read ${seen}, and its record has ${tables}`)
    return true
  }

  try {
    await until(() => instances.every(({ isListening }) => isListening()), Boolean, START_MS)
    await until(change, () => stored.version > 0, START_MS)
    // The other instance has the new endpoint a moment later.
    for (const { url } of instances) {
      await until(
        () => call(`${url}/read`, json('POST', { code: 'c0' })),
        ({ status }) => status === 200,
        START_MS,
      )
    }
    const work = [write(), ...Array.from({ length: SENDERS }, send)]
    let killed = 0
    for (; killed < kills; killed += 1) {
      const { program, isListening } = any()
      const share = (answers[200] ?? 0) + ANSWERS_BETWEEN
      // Some are killed while they start.
      if (!random.chance(0.15)) {
        await until(isListening, Boolean, START_MS)
        await until(
          () => answers[200] ?? 0,
          (count) => count >= share,
          START_MS,
        )
      }
      await pause(random.below(500))
      const { child, ended } = program()
      child.kill('SIGKILL')
      await ended
      if (killed % 10 === 9) report({ kills: killed + 1, ...stored, joint, answers })
    }
    await until(() => instances.every(({ isListening }) => isListening()), Boolean, START_MS)
    const before = answers[200] ?? 0
    await until(
      () => answers[200] ?? 0,
      (count) => count > before + SENDERS,
      START_MS,
    )
    isSending = false
    await Promise.all(work)
    const step = Math.ceil(read.length / MAX_RECORDS)
    const looked = read.filter((_, index) => index % step === 0)
    const found: typeof looked = []
    for (const one of looked) if (await check(one)) found.push(one)
    const [versionsRead, documentsRead] = (['version', 'document'] as const).map(
      (part) => new Set(found.map((one) => one[part])).size,
    ) as [number, number]
    const { version } = stored
    return { faults, kills: killed, version, joint, answers, records: found.length, versionsRead, documentsRead }
  } finally {
    isSending = false
    isOver = true
    for (const { program } of instances) program().child.kill('SIGKILL')
    await Promise.all(started.map(({ running }) => running))
    await slow.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
  })
  const database = await createDatabase()
  try {
    const { faults, ...report } = await killWhileTablesChange({
      databaseUrl: database.url,
      kills: Number(values.kills),
      seed: Number(values.seed),
      report: (line) => console.log(JSON.stringify(line)),
    })
    console.log(JSON.stringify({ ...report, faults: faults.slice(0, 20), faultCount: faults.length }, undefined, 2))
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await database.drop()
  }
}
