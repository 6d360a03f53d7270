/**
 * `node bin/node.js test/support/comparison/record.ts http://127.0.0.1:3003`: records what a running openhim-mediator-mapping answers to
 * the messages of the fixtures, for tests that run without one; some of them also as the transactions that OpenHIM would keep. It
 * must reach this machine on 127.0.0.1.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { sendMessage } from '../../../src/comparison/exchange.ts'
import type { JsonObject } from '../../../src/domain/json.ts'
import { answerUpstream } from '../../service/comparison/upstream.ts'
import { json, startUpstream } from '../service.ts'
import { fixtures, messagesIn } from './fixtures.ts'
import { RECORDED, TRANSACTIONS, withoutTimes } from './recorded-peer.ts'
import { transactionOf } from './transactions.ts'

/** Each of them holds all data of its message several times. */
const EACH_TRANSACTION = 9

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
    if (at % EACH_TRANSACTION !== 0) continue
    const headers = { ...message.headers, 'x-openhim-transactionid': `${name}-${at}`, authorization: 'Bearer canary' }
    const { answer, times } = await sendMessage(peerUrl, { ...message, headers })
    transactions.push(transactionOf({ ...message, headers }, answer, times, `${name}-${at}`))
  }
  await fetch(`${peerUrl}/endpoints/${id}`, { method: 'DELETE' })
  writeFileSync(new URL(`${name}.json`, RECORDED), `${JSON.stringify(answers, undefined, 2)}\n`)
  process.stdout.write(`${name}: ${answers.length} answers\n`)
}
writeFileSync(TRANSACTIONS, `${JSON.stringify({ upstream: upstream.url, transactions }, undefined, 2)}\n`)
await upstream.stop()
