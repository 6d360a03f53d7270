/**
 * One request on the wire. On undici's dispatcher itself, below its `request`: only there can a request that still waits
 * for a connection be given up at its deadline, and be known whether anything was sent or answered.
 */
import type { Agent, Dispatcher } from 'undici'
import { FRAMING_HEADERS } from '../../domain/http.ts'
import type { OutboundAnswer, OutboundError, OutboundRequest } from '../../domain/ports.ts'
import { createBodyBuffer } from './body-buffer.ts'
import type { Deadline } from './deadline.ts'
import { subjectOf, tooLarge, tooManyInterim } from './faults.ts'

/** A request as it goes to the dispatcher, ready for any number of attempts. */
export type Call = Readonly<{ subject: string; options: Dispatcher.DispatchOptions }>

/** How an attempt ended: with an answer, its codings not yet undone; given up on our side; or lost with its connection. */
export type Outcome =
  | Readonly<{ kind: 'answer'; answer: OutboundAnswer }>
  | Readonly<{ kind: 'given-up'; error: OutboundError }>
  | Readonly<{ kind: 'lost'; error: unknown; sent: boolean; answered: boolean }>

/** Answers such as 102 and 103, which come before the answer: a server that sends them without end never answers. */
const MOST_INTERIM = 100

export function prepareCall(request: OutboundRequest, url: URL): Call {
  const headers: string[] = []
  for (const name in request.headers) {
    if (!FRAMING_HEADERS.has(name)) headers.push(name, request.headers[name] as string)
  }
  if (!Object.hasOwn(request.headers, 'accept-encoding')) headers.push('accept-encoding', 'identity')
  const path = url.pathname + url.search
  const { method, body = null } = request
  return {
    subject: subjectOf(request, url),
    options: { origin: url.origin, path, method, headers, body },
  }
}

/**
 * Sends once and reads the whole answer, of at most `limitBytes`; drops the connection where it is larger or where
 * `deadline` passes. Settles once, and never rejects. `told` is called once with the outcome, before that.
 */
export function attempt(
  agent: Agent,
  { subject, options }: Call,
  limitBytes: number,
  deadline: Deadline,
  told?: (outcome: Outcome) => void,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const body = createBodyBuffer(limitBytes)
    let controller: Dispatcher.DispatchController | undefined
    let answered = false
    let isSettled = false
    let interim = 0
    let status = 0
    let headers: OutboundAnswer['headers'] = {}

    const settle = (outcome: Outcome): void => {
      if (isSettled) return
      isSettled = true
      deadline.onPass = undefined
      told?.(outcome)
      resolve(outcome)
    }
    const giveUp = (error: OutboundError): void => {
      settle({ kind: 'given-up', error })
      controller?.abort(error)
    }

    if (deadline.passed !== undefined) return giveUp(deadline.passed)
    deadline.onPass = giveUp
    agent.dispatch(options, {
      onRequestStart(starting) {
        // It waited for a connection until after its deadline. Thrown, this spares the connection; an abort would drop it.
        if (deadline.passed !== undefined) throw deadline.passed
        controller = starting
      },
      onResponseStarted() {
        answered = true
      },
      onResponseStart(_controller, statusCode, received) {
        if (statusCode < 200) {
          interim += 1
          if (interim > MOST_INTERIM) giveUp(tooManyInterim(subject, MOST_INTERIM))
          return
        }
        status = statusCode
        headers = received as OutboundAnswer['headers']
        const hasBody = options.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
        if (hasBody && Number(received['content-length']) > limitBytes) giveUp(tooLarge(subject, limitBytes))
      },
      onResponseData(_controller, chunk) {
        if (!body.append(chunk)) giveUp(tooLarge(subject, limitBytes))
      },
      onResponseEnd() {
        settle({ kind: 'answer', answer: { status, headers, body: body.take() } })
      },
      onResponseError(_controller, error) {
        settle({ kind: 'lost', error, sent: controller !== undefined, answered })
      },
    })
  })
}
