/** Before servers are compared, each must give the answer that is expected, to the last byte. */

import { type Ask, outputBy, parseBy, serialiseBy, type Upstream, type Workload } from '../workloads/workload.ts'
import type { Target } from './load.ts'

/** `contentType`: without its parameters. */
export type Answer = Readonly<{ status: number; contentType: string; body: string }>

/** The answer that the workload must give, computed by the code written by hand. */
export async function expectedAnswer({ hand, message }: Workload, { origin }: Upstream): Promise<Answer> {
  const ask: Ask = async (path) => (await fetch(origin + path)).json()
  const output = await outputBy(hand, parseBy(hand)(message), ask)
  return { status: 200, contentType: hand.contentType, body: serialiseBy(hand)(output) }
}

/** What a server answers. */
export async function answerOf({ url, contentType, body }: Target): Promise<Answer> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body })
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
  return { status: answer.status, contentType: type, body: await answer.text() }
}

/** Out: the first thing in which an answer is not the expected one, as a sentence that names who gave it; else undefined. */
export function differenceOf(who: string, answer: Answer, expected: Answer): string | undefined {
  if (answer.status !== expected.status) {
    return `${who} answered ${answer.status} instead of ${expected.status}: ${answer.body.slice(0, 300)}`
  }
  if (answer.contentType !== expected.contentType) {
    return `${who} answered ${answer.contentType} instead of ${expected.contentType}`
  }
  if (answer.body === expected.body) return undefined
  let at = 0
  while (at < answer.body.length && answer.body[at] === expected.body[at]) at += 1
  const from = Math.max(0, at - 40)
  const shown = (body: string) => JSON.stringify(body.slice(from, at + 40))
  return `${who} answered other bytes, from character ${at} on: ${shown(answer.body)} instead of ${shown(expected.body)}`
}

/** Fails where a server's answer is not the expected one. */
export async function requireSameAnswers(
  subjects: readonly Readonly<{ name: string; target: Target }>[],
  expected: Answer,
): Promise<void> {
  for (const { name, target } of subjects) {
    const difference = differenceOf(name, await answerOf(target), expected)
    if (difference !== undefined) throw new Error(`${difference}. Nothing was measured.`)
  }
}
