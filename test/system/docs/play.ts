/** Plays the examples of a page, one after the other: what the kinds of blocks are, test/system/docs/examples.test.ts says. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { type Block, codeIn, type Fence, type Table } from '../../support/docs/page.ts'
import type { Reply } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { isAnswer, type Message, readCurls, readExchange, readMessage, readRequest } from './exchange.ts'
import { openStage, type Stage } from './stage.ts'
import { mapped, runnerOf } from './tables.ts'

const MOMENT_MS = 5_000

/** Languages of blocks that are for reading only. */
export const PROSE = ['sh', 'text', 'xml', 'http', 'jsonc', 'yaml', 'js']
const KINDS = ['json endpoint', 'json tests', 'json answer', 'json schema', 'json source', 'json example']
export const KNOWN = [...KINDS, 'http call', 'text answer']

export const kindOf = (fence: Fence): string => fence.words.slice(0, 2).join(' ')

export const isRunTable = (block: Block): block is Table =>
  block.kind === 'table' && (runnerOf(block.header) !== undefined || isMessageTable(block))

const isMessageTable = ({ header }: Table): boolean => header.join(' | ') === 'message | answer'

export function isExample(block: Block): boolean {
  if (block.kind === 'table') return isRunTable(block)
  if (block.words[0] === 'sh') return readCurls(block.text).length > 0
  return block.words[0] === 'http' || KNOWN.includes(kindOf(block))
}

export async function play(page: string, blocks: readonly Block[], t: TestContext): Promise<void> {
  const stages = new Map<string, Stage>()
  const stageFor = async (settings: readonly string[] = []): Promise<Stage> => {
    const key = settings.join(' ')
    const env = Object.fromEntries(settings.map((setting) => setting.split('=') as [string, string]))
    const stage = stages.get(key) ?? (await openStage(page, env))
    stages.set(key, stage)
    return stage
  }
  t.after(() => Promise.all([...stages.values()].map((stage) => stage.stop())))

  const names = new Map<string, string>()
  const rest = [...blocks]
  let source: JsonObject = {}
  let document: JsonObject = {}
  for (let block = rest.shift(); block !== undefined; block = rest.shift()) {
    const at = `line ${block.line}`
    const now = block
    if (now.kind === 'table') {
      assert.ok(!isMessageTable(now), `${at}: a table of messages needs a schema right before it`)
      for (const { cells, line } of now.rows) {
        const [given = '', expected = ''] = cells
        await t.test(`line ${line}`, () =>
          runnerOf(now.header)?.(given, expected, { source }, codeIn(now.header[1] ?? '')),
        )
      }
    } else if (kindOf(now) === 'json source') source = JSON.parse(now.text)
    else if (kindOf(now) === 'json tests') {
      const stage = await stageFor()
      const own = document
      await t.test(at, () => runTests(stage, own, JSON.parse(now.text)))
    } else if (kindOf(now) === 'json example') {
      const example = JSON.parse(now.text)
      await t.test(at, () => assert.deepEqual(mapped(example.mapping, example.source), example.output))
    } else if (kindOf(now) === 'json schema') {
      const table = rest.shift()
      assert.ok(table?.kind === 'table' && isMessageTable(table), `${at}: a schema needs a table of messages after it`)
      const stage = await stageFor(now.words.slice(2))
      await t.test(at, () => validateAll(stage, `/line-${now.line}`, JSON.parse(now.text), table))
    } else {
      const calls = takeWhile(rest, (next) => kindOf(next) === 'http call')
      const answers = takeWhile(rest, (next) => /^(json|text) answer$/.test(kindOf(next)) || isAnswer(next.text))
      if (kindOf(now) === 'json endpoint') document = JSON.parse(now.text)
      const stage = await stageFor()
      await t.test(at, () => exchange(stage, now, calls, answers, names))
    }
  }
}

/** Takes the fences from the front for which `test` holds. */
function takeWhile(blocks: Block[], test: (fence: Fence) => boolean): Fence[] {
  const taken: Fence[] = []
  for (let first = blocks[0]; first?.kind === 'fence' && test(first); first = blocks[0]) {
    taken.push(first)
    blocks.shift()
  }
  return taken
}

/** Sends what a block shows and compares what comes back with the blocks after it. */
async function exchange(
  stage: Stage,
  block: Fence,
  calls: readonly Fence[],
  answers: readonly Fence[],
  names: Map<string, string>,
): Promise<void> {
  const exchanges = calls.map(({ text }) => readExchange(text))
  if (kindOf(block) === 'json endpoint') {
    assert.deepEqual(exchanges, [])
    const reply = await registered(stage, block.text, names)
    if (answers.length === 0) {
      assert.ok(reply.status < 300, reply.text)
      assert.equal(reply.headers.get('x-crosswalk-warnings'), null)
    }
    return compareAll(stage, answers, reply)
  }
  const requests = block.words[0] === 'sh' ? readCurls(block.text) : [readRequest(block.text)]
  for (const [index, request] of requests.entries()) {
    const last = index === requests.length - 1
    if (last && answers.length > 0) await compareReply(stage, () => stage.send(request, exchanges), answers, request)
    else {
      const reply = await stage.send(request, last ? exchanges : [])
      assert.ok(reply.status < 300, reply.text)
    }
  }
}

/** What a message leaves behind its answer, such as what became of a delivery, takes a moment: a GET is then repeated. */
async function compareReply(
  stage: Stage,
  send: () => Promise<Reply>,
  answers: readonly Fence[],
  { start }: Message,
): Promise<void> {
  let reply = await send()
  const isAsShown = () => {
    try {
      compareAll(stage, answers, reply)
      return true
    } catch {
      return false
    }
  }
  const next = async () => {
    if (!isAsShown()) reply = await send()
    return isAsShown()
  }
  if (start.startsWith('GET ')) await until(next, (isSame) => isSame, MOMENT_MS).catch(() => {})
  compareAll(stage, answers, reply)
}

/** Each test of the file passes for the document before it. */
async function runTests(stage: Stage, endpoint: JsonObject, tests: JsonObject): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ endpoint, tests })
  const reply = await stage.send({ start: 'POST /endpoints/tests/run', headers, body })
  const { ran, failed } = reply.json()
  assert.deepEqual({ status: reply.status, ran, failed }, { status: 200, ran: true, failed: 0 }, reply.text)
}

/** The answer to the document, put in the place of the one that the page registered under its name before. */
async function registered(stage: Stage, text: string, names: Map<string, string>): Promise<Reply> {
  const { name } = JSON.parse(text)
  const before = names.get(name)
  const start = before === undefined ? 'POST /endpoints' : `PUT /endpoints/${before}`
  const reply = await stage.send({ start, headers: { 'content-type': 'application/json' }, body: text })
  if (reply.status < 300) names.set(name, reply.json<{ _id: string }>()._id)
  return reply
}

function compareAll(stage: Stage, answers: readonly Fence[], reply: Reply): void {
  for (const answer of answers) {
    if (kindOf(answer) === 'text answer') {
      for (const line of answer.text.split('\n')) assert.ok(reply.text.includes(line), `${line}\n${reply.text}`)
    } else if (isAnswer(answer.text)) stage.compare(readMessage(answer.text), reply)
    else
      stage.compare(
        { start: `HTTP/1.1 ${reply.status < 300 ? reply.status : 200}`, headers: {}, body: answer.text },
        reply,
      )
  }
}

/** Sends each message of the table to an endpoint with this schema. */
async function validateAll(stage: Stage, pattern: string, inputValidation: JsonObject, table: Table): Promise<void> {
  const document = {
    name: pattern,
    endpoint: { pattern },
    transformation: { input: 'JSON', output: 'JSON' },
    inputValidation,
  }
  const headers = { 'content-type': 'application/json' }
  const stored = await stage.send({ start: 'POST /endpoints', headers, body: JSON.stringify(document) })
  assert.equal(stored.status, 201, stored.text)
  for (const { cells, line } of table.rows) {
    const [message = '', answer = ''] = cells
    const reply = await stage.send({ start: `POST ${pattern}`, headers, body: codeIn(message)[0] ?? '' })
    const passes = answer.startsWith('accepted')
    const [goesOn] = codeIn(answer)
    assert.equal(reply.status, passes ? 200 : 400, `line ${line}: ${reply.text}`)
    if (!passes) assert.equal(reply.json().error, goesOn ?? answer, `line ${line}`)
    else if (goesOn !== undefined) assert.deepEqual(reply.json(), JSON.parse(goesOn), `line ${line}`)
  }
}
