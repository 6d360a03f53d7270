/** The counts of messages in a span of time, of one endpoint and of all. */
import Type from 'typebox'
import { described, named, whole } from '../core/schema.ts'

const milliseconds = Type.Unsafe<number | null>({
  type: ['number', 'null'],
  description: 'Milliseconds, at most 10 % off; null without any.',
})

export const Counts = named('Counts', {
  count: whole,
  failures: described(whole, 'Messages that did not end done.'),
  p50: milliseconds,
  p95: milliseconds,
  p99: milliseconds,
})
