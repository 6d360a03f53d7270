/** A listener that answers as openhim-mediator-mapping answered when it was recorded. */

import { readFileSync } from 'node:fs'
import type { ExchangeTimes } from '../../../migrate/compare/comparison.ts'
import { startUpstream, type Upstream } from '../service.ts'

type RecordedAnswer = Readonly<{ message: string; status: number; contentType: string | null; body: string }>

export const RECORDED = new URL('recorded/', import.meta.url)
export const TRANSACTIONS = new URL('transactions.jsonl', import.meta.url)

export const readLines = <Value>(file: URL): Value[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Stands for the time of the message. */
const NOW = '{{now}}'

/** The text of a body with a mark in place of the times at which the message ran. */
export const withoutTimes = (body: string, { sentAt, answeredAt }: ExchangeTimes): string =>
  body.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (text) => {
    const time = Date.parse(text)
    return time >= sentAt - 1_000 && time <= answeredAt + 1_000 ? NOW : text
  })

/** Never the same as the time of this service. */
const aMomentAgo = (): string => new Date(Date.now() - 1_000).toISOString()

/** Gives the recorded answers of a fixture in their order. */
export function startRecordedPeer(fixture: string): Promise<Upstream> {
  const answers: RecordedAnswer[] = readLines(new URL(`${fixture}.jsonl`, RECORDED))
  let next = 0
  return startUpstream((_request, response) => {
    const answer = answers[next]
    next += 1
    if (answer === undefined) return { error: 'There is no further recorded answer.' }
    response.writeHead(answer.status, answer.contentType === null ? {} : { 'content-type': answer.contentType })
    response.end(answer.body.replaceAll(NOW, aMomentAgo()))
    return undefined
  })
}
