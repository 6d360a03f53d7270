/**
 * Stops the service at random moments under load, and looks whether a message was lost:
 * `node bin/node.js test/system/load/sigterms.ts [--rounds 100] [--seed 1]`. Exits with 1 where one was.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startUpstream } from '../../support/service.ts'
import { createRandom, type Random } from '../crash/random.ts'
import { type BundledService, registerAt, startBundled } from './bundled-service.ts'

export type SigtermReport = {
  answered: number
  /** Rounds in which no message was answered before the signal came. */
  idleRounds: number
  /** Answered with 503 and `Retry-After`: the sender knows that nothing was done. */
  refused: number
  /** Connections that ended with nothing of an answer, and where nothing had arrived at the listener: they can be sent again. */
  untaken: number
  /** What was answered as done and not seen by the listener, or seen and not answered so. */
  lost: string[]
  /** Answers that came in part, or were neither a success nor a refusal. */
  wrong: string[]
  /** Of those that were answered as done, how many have no record in the message log. */
  unrecorded: number
  /** Rounds that did not end with exit code 0. */
  badEnds: number
}

type Ending = 'refused' | 'reset' | 'end'

const CALLERS = 8
const MAX_DELAY_MS = 400

type Sender = Readonly<{
  url: string
  seen: ReadonlySet<string>
  report: SigtermReport
  done: Set<string>
  /** Called at each answer that says that a message is done. */
  onDone(): void
}>

/** Every message has an id of its own, which the listener and the state see. */
export async function stopOften(rounds: number, random: Random): Promise<SigtermReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-sigterm-'))
  const seen = new Set<string>()
  const listener = await startUpstream(async ({ body }) => {
    seen.add(JSON.parse(body).id)
    listener.received.length = 0
    // Some answers take longer than others, so that messages end in another order than they came.
    await pause(random.below(20))
    return { took: true }
  })
  const start = () => startBundled(folder, 60_000, { MAX_MESSAGES_IN_FLIGHT: '6', MESSAGE_LOG: 'all' })
  const report: SigtermReport = {
    answered: 0,
    idleRounds: 0,
    refused: 0,
    untaken: 0,
    lost: [],
    wrong: [],
    unrecorded: 0,
    badEnds: 0,
  }
  const done = new Set<string>()
  const stop = async ({ child, ended }: BundledService) => {
    child.kill('SIGTERM')
    return ended
  }
  try {
    for (let round = 0; round < rounds; round += 1) {
      const service = await start()
      const { url } = service
      if (round === 0) await registerAt(url, documentFor(listener.url))
      const underLoad = Promise.withResolvers<void>()
      const sender = { url, seen, report, done, onDone: underLoad.resolve }
      const doneBefore = done.size
      const callers = Array.from({ length: CALLERS }, (_, caller) => callUntilStopped(sender, `${round}-${caller}`))
      // Half of them also at their very start, where there may be no answer yet.
      if (round % 2 === 0) await underLoad.promise
      await pause(random.below(MAX_DELAY_MS))
      if (done.size === doneBefore) report.idleRounds += 1
      const [{ code }] = await Promise.all([stop(service), ...callers])
      if (code !== 0) report.badEnds += 1
    }
    const service = await start()
    const recorded = await recordedIn(service.adminUrl)
    report.unrecorded = [...done].filter((id) => !recorded.has(id)).length
    await stop(service)
  } finally {
    await listener.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return report
}

/** The ids of all messages that the log has as done. */
async function recordedIn(adminUrl: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const from = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await fetch(`${adminUrl}/messages?outcome=done&limit=500${from}`)
    const page = (await answer.json()) as { messages: { id: string }[]; next?: string }
    for (const { id } of page.messages) ids.add(id)
    cursor = page.next
  }
  return ids
}

const documentFor = (url: string) => ({
  name: 'load',
  endpoint: { pattern: '/load' },
  transformation: { input: 'JSON', output: 'JSON' },
  state: { extract: { requestBody: { id: 'id' } } },
  requests: { response: [{ id: 'listener', config: { method: 'POST', url } }] },
})

/** One message after the other, on connections that are kept as long as the service keeps them. */
async function callUntilStopped(sender: Sender, name: string): Promise<void> {
  for (let connection = 0; ; connection += 1) {
    if ((await callOnOneConnection(sender, `${name}-${connection}`)) === 'refused') return
  }
}

async function callOnOneConnection({ url, seen, report, done, onDone }: Sender, name: string): Promise<Ending> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let received = ''
  let wake = () => {}
  let ending: Ending | undefined
  const end = (how: Ending) => () => {
    ending ??= how
    wake()
  }
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
    wake()
  })
  let connected = false
  socket.on('connect', () => {
    connected = true
    wake()
  })
  socket
    .on('error', () => end(connected ? 'reset' : 'refused')())
    .on('end', end('end'))
    .on('close', end('end'))
  const until = async (what: () => boolean) => {
    while (!what() && ending === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  await until(() => connected)
  for (let serial = 0; ending === undefined; serial += 1) {
    const id = `${name}-${serial}`
    const body = JSON.stringify({ id })
    received = ''
    socket.write(
      `POST /load HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await until(() => isWhole(received))
    const status = received.slice(9, 12)
    if (received === '') {
      // A connection that ends without a byte of an answer may be tried again, unless the message was done.
      if (seen.has(id)) report.lost.push(`${id} was done and not answered`)
      else report.untaken += 1
    } else if (!isWhole(received)) report.wrong.push(`${id}: ${received}`)
    else if (status === '200') {
      report.answered += 1
      if (!seen.has(id)) report.lost.push(`${id} was answered and not done`)
      onDone()
      done.add(/\r\nx-crosswalk-message-id: *(\S+)/i.exec(received)?.[1] ?? `without an id: ${id}`)
    } else if (status === '503' && /\r\nretry-after: *[1-9]/i.test(received)) {
      report.refused += 1
      if (seen.has(id)) report.lost.push(`${id} was refused and done`)
    } else report.wrong.push(`${id}: ${received}`)
    if (/\r\nconnection: *close/i.test(received)) await until(() => false)
  }
  socket.destroy()
  return ending
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(answer)?.[1])
  return headEnd !== -1 && answer.length >= headEnd + 4 + length
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '100' },
      seed: { type: 'string', default: `${Date.now() % 2 ** 31}` },
    },
  })
  console.log({ seed: Number(values.seed) })
  const report = await stopOften(Number(values.rounds), createRandom(Number(values.seed)))
  console.log(report)
  if (report.lost.length + report.wrong.length + report.unrecorded + report.badEnds > 0) process.exitCode = 1
}
