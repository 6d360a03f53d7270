/** The kinds of values that only the settings of the broker have. */
import { createKind, type Kind, listenAddress } from './setting-kinds.ts'

const BRACKETED = /^\[([0-9a-f:.]+)\]$/i

function isBroker(text: string): boolean {
  const colon = text.lastIndexOf(':')
  const port = /^\d{1,5}$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : 0
  const host = text.slice(0, Math.max(colon, 0))
  return port >= 1 && port <= 65_535 && listenAddress.parse(BRACKETED.exec(host)?.[1] ?? host).ok
}

/** Addresses of brokers; IPv6 in brackets. */
export const brokerList: Kind<readonly string[]> = createKind(
  '`host:port`, or several joined by commas',
  (text) => {
    const brokers = text.split(',').map((broker) => broker.trim())
    return brokers.every(isBroker) ? brokers : undefined
  },
  ', such as `kafka-1:9092`',
)

export const deadLetterTopic: Kind<string> = createKind(
  '`off`, or the name of a topic, in which `{topic}` is the topic consumed',
  (text) => {
    if (text.toLowerCase() === 'off') return 'off'
    const name = text.replaceAll('{topic}', 't')
    const isTopic = /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..'
    return isTopic && text !== '{topic}' ? text : undefined
  },
  ': `{topic}.dlq`',
)

/** Pauses in milliseconds; `0` alone is one more attempt without a pause. */
export const pauses: Kind<readonly number[]> = createKind(
  'up to 20 whole numbers of milliseconds from 0 to 3600000, joined by commas, or `none`',
  (text) => {
    if (text.toLowerCase() === 'none') return []
    const parts = text.split(',').map((part) => part.trim())
    const isRight = parts.length <= 20 && parts.every((part) => /^\d{1,7}$/.test(part) && Number(part) <= 3_600_000)
    return isRight ? parts.map(Number) : undefined
  },
)
