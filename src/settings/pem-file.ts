/** The kind of settings that name a file of certificates or a key. */
import { readFileSync } from 'node:fs'
import { fault, found } from '../core/lint.ts'
import type { Kind } from './setting-kinds.ts'

/** The value is the content of the file: certificates or a key. */
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
