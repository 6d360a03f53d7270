/**
 * `node bin/node.js test/support/migrate/record.ts http://127.0.0.1:3003`: records what a running openhim-mediator-mapping answers to
 * the messages of the fixtures, for tests that run without one; some of them also as the transactions that OpenHIM would keep. It
 * must reach this machine on 127.0.0.1.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { sendMessage } from '../../../migrate/compare/live-comparison.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { answerUpstream } from '../../service/migrate/upstream.ts'
import { json, startUpstream } from '../service.ts'
import { fixtures, messagesIn } from './fixtures.ts'
import { RECORDED, TRANSACTIONS, withoutTimes } from './recorded-peer.ts'
import { transactionOf } from './transactions.ts'

/** The message of each fixture whose transaction is kept: between them the differences and failures that transactions show. */
const TRANSACTION_OF: Readonly<Record<string, number>> = {
  'change-person': 9,
  'changes-since': 9,
  'each-unit': 9,
  'body-height': 9,
  facilities: 18,
  'intake-form': 27,
  'link-record': 0,
  practitioners: 9,
  register: 9,
  'two-targets': 45,
  'xml-answer': 9,
  'xml-order': 9,
}

const linesOf = (list: readonly JsonObject[]): string => list.map((one) => `${JSON.stringify(one)}\n`).join('')

const [peerUrl] = process.argv.slice(2)
if (peerUrl === undefined) throw new Error('Give the URL of the service to record.')

const upstream = await startUpstream(answerUpstream)
mkdirSync(RECORDED, { recursive: true })
const transactions: JsonObject[] = []
for (const { name, document, messages } of fixtures(upstream.url)) {
  const created = await fetch(`${peerUrl}/endpoints`, json('POST', document))
  if (created.status !== 201) throw new Error(`${name} was refused: ${await created.text()}`)
  const { _id: id } = (await created.json()) as JsonObject
  const answers = []
  for (const message of messagesIn(messages)) {
    const { answer, times } = await sendMessage(peerUrl, message)
    const body = withoutTimes(new TextDecoder().decode(answer.body), times)
    answers.push({
      message: message.name,
      status: answer.status,
      contentType: answer.headers['content-type'] ?? null,
      body,
    })
  }
  for (const [at, message] of messagesIn(messages).entries()) {
    if (at !== TRANSACTION_OF[name]) continue
    const headers = { ...message.headers, 'x-openhim-transactionid': `${name}-${at}`, authorization: 'Bearer canary' }
    const { answer, times } = await sendMessage(peerUrl, { ...message, headers })
    transactions.push(transactionOf({ ...message, headers }, answer, times, `${name}-${at}`))
  }
  await fetch(`${peerUrl}/endpoints/${id}`, { method: 'DELETE' })
  writeFileSync(new URL(`${name}.jsonl`, RECORDED), linesOf(answers))
  process.stdout.write(`${name}: ${answers.length} answers\n`)
}
const { hostname, port } = new URL(upstream.url)
writeFileSync(
  TRANSACTIONS,
  linesOf(transactions).replaceAll(`"host":"${hostname}","port":"${port}"`, '"host":"upstream.test","port":"8000"'),
)
await upstream.stop()
