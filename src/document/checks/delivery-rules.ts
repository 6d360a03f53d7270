/** The rules between `delivery` and the other fields of a response request. */
import { readDuration } from '../../core/iso-time.ts'
import type { LintSink } from '../../core/lint.ts'
import { targetOf } from '../../outbound/targets.ts'
import { isMarkedPrimary, type ResponseRequest } from '../schema/schema.ts'

const MAX_AGE_MS = 30 * 86_400_000

const MAX_TIMES = 30
const MAX_SECRETS = 10

/** Lints at the request. */
export function lintDelivery(request: ResponseRequest, lint: LintSink): void {
  const { delivery, retries, optional } = request
  if (delivery === undefined) return
  const sink = lint.at('delivery')
  if (retries !== undefined)
    lint.at('retries').error('"delivery.schedule" says when a stored request is tried again; leave "retries" out.')
  if (optional === true)
    lint.at('optional').error('A stored request fails no message; leave "optional" out, or leave "delivery" out.')
  if (isMarkedPrimary(request)) {
    const place = request.primary === true ? lint.at('primary') : lint.at('config', 'primary')
    place.error('The message is answered before a stored request is sent; leave "primary" or "delivery" out.')
  }
  const { giveUpAfter, schedule = [], sign } = delivery
  if (giveUpAfter !== undefined && readDuration(giveUpAfter) > MAX_AGE_MS)
    sink.at('giveUpAfter').error('A delivery is given up after 30d at the latest; give a shorter time.')
  for (const [index, wait] of schedule.entries()) {
    if (readDuration(wait) > MAX_AGE_MS)
      sink.at('schedule', index).error('A delivery is tried again after 30d at the latest; give a shorter time.')
  }
  if (schedule.length > 0 && readDuration(schedule.at(-1) ?? '') === 0) {
    sink
      .at('schedule')
      .error('The last time repeats, and with 0 the target would be called without a pause; end with a longer one.')
  }
  if (schedule.length > MAX_TIMES)
    sink.at('schedule').error(`A schedule has at most ${MAX_TIMES} times, and the last one repeats; leave some out.`)
  if ([sign?.secret ?? []].flat().length > MAX_SECRETS)
    sink.at('sign', 'secret').error(`A request is signed with at most ${MAX_SECRETS} secrets; leave some out.`)
  const target = targetOf(request)
  if (sign !== undefined && !target.isHttp)
    sink.at('sign').warning(`${target.requests} has no headers of HTTP to be signed with, so this has no effect.`)
}
