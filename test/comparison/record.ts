/**
 * `node bin/node.js test/comparison/record.ts http://127.0.0.1:3003`: records what a running openhim-mediator-mapping answers to
 * the messages of the fixtures, for tests that run without one. It must reach this machine on 127.0.0.1.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { sendMessage } from '../../src/comparison/exchange.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { json, startUpstream } from '../service.ts'
import { fixtures, messagesIn } from './fixtures.ts'
import { RECORDED, withoutTimes } from './recorded-peer.ts'
import { answerUpstream } from './upstream.ts'

const [peerUrl] = process.argv.slice(2)
if (peerUrl === undefined) throw new Error('Give the URL of the service to record.')

const upstream = await startUpstream(answerUpstream)
mkdirSync(RECORDED, { recursive: true })
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
  await fetch(`${peerUrl}/endpoints/${id}`, { method: 'DELETE' })
  writeFileSync(new URL(`${name}.json`, RECORDED), `${JSON.stringify(answers, undefined, 1)}\n`)
  process.stdout.write(`${name}: ${answers.length} answers\n`)
}
await upstream.stop()
