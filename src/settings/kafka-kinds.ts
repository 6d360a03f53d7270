/** The kinds of value that only the settings of the broker have. */
import { readFileSync } from 'node:fs'
import { fault, found } from '../domain/lint.ts'
import { type Kind, listenAddress } from './setting-kinds.ts'

const BRACKETED = /^\[([0-9a-f:.]+)\]$/i

/** Addresses of brokers: `host:port`, IPv6 in brackets, several joined by commas. */
export const brokerList: Kind<readonly string[]> = {
  accepts: '`host:port`, or several joined by commas',
  parse: (text) => {
    const brokers = text.split(',').map((broker) => broker.trim())
    const isBroker = (broker: string): boolean => {
      const colon = broker.lastIndexOf(':')
      const port = /^\d{1,5}$/.test(broker.slice(colon + 1)) ? Number(broker.slice(colon + 1)) : 0
      const host = broker.slice(0, Math.max(colon, 0))
      return port >= 1 && port <= 65_535 && listenAddress.parse(BRACKETED.exec(host)?.[1] ?? host).ok
    }
    return brokers.every(isBroker) ? found(brokers) : fault(`Give ${brokerList.accepts}, such as \`kafka-1:9092\`.`)
  },
}

/** A name that a broker, its logs and its access rules take without quoting. */
export const brokerName: Kind<string> = {
  accepts: '1 to 200 letters, digits, dots, underscores or hyphens',
  parse: (text) => (/^[a-zA-Z0-9._-]{1,200}$/.test(text) ? found(text) : fault(`Give ${brokerName.accepts}.`)),
}

/** Where records go that cannot be processed: `off`, or the name of a topic, in which `{topic}` is the one consumed. */
export const deadLetterTopic: Kind<string> = {
  accepts: '`off`, or the name of a topic, in which `{topic}` stands for the topic consumed',
  parse: (text) => {
    if (text.toLowerCase() === 'off') return found('off')
    const name = text.replaceAll('{topic}', 't')
    const isTopic = /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..'
    return isTopic && text !== '{topic}' ? found(text) : fault(`Give ${deadLetterTopic.accepts}: \`{topic}.dlq\`.`)
  },
}

/** Pauses in milliseconds, joined by commas; `0` alone is one attempt more without a pause. */
export const pauses: Kind<readonly number[]> = {
  accepts: 'up to 20 whole numbers of milliseconds from 0 to 3600000, joined by commas, or `none`',
  parse: (text) => {
    if (text.toLowerCase() === 'none') return found([])
    const parts = text.split(',').map((part) => part.trim())
    const right = parts.length <= 20 && parts.every((part) => /^\d{1,7}$/.test(part) && Number(part) <= 3_600_000)
    return right ? found(parts.map(Number)) : fault(`Give ${pauses.accepts}.`)
  },
}

/** Credentials: more than one character, so that a placeholder left in a file is told. */
export const credential: Kind<string> = {
  accepts: 'a text of at least 2 characters',
  parse: (text) => (text.length >= 2 ? found(text) : fault(`Give ${credential.accepts}.`)),
}

/** Path of a file with certificates or a key in PEM form; its content is the value. */
export const pemFile: Kind<string> = {
  accepts: 'the path of a readable file in PEM form',
  parse: (text) => {
    try {
      const content = readFileSync(text, 'utf8')
      return content.includes('-----BEGIN ') ? found(content) : fault(`Give ${pemFile.accepts}; this one is not.`)
    } catch {
      return fault(`Give ${pemFile.accepts}.`)
    }
  },
}
