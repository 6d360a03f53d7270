/** The key with which a command calls a running service. */
import { readFileSync } from 'node:fs'
import { readFault } from '../domain/files/files.ts'
import type { Environment } from '../settings/settings.ts'

export type ApiKeyReading = Readonly<{ key: string | undefined; fault?: undefined }> | Readonly<{ fault: string }>

/**
 * In: the file of `--key-file`; without it, CROSSWALK_KEY counts. Out: the key, undefined if there is none, or a sentence on what is
 * wrong with it, which never repeats it.
 */
export function readApiKey(file: string | undefined, env: Environment): ApiKeyReading {
  let key = env.CROSSWALK_KEY?.trim() || undefined
  if (file !== undefined) {
    try {
      key = readFileSync(file, 'utf8').trim()
    } catch (thrown) {
      return { fault: `--key-file is wrong: ${readFault(file, thrown)}` }
    }
    if (key === '') return { fault: '--key-file is empty.' }
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    return { fault: 'The key is wrong: it has characters that no key has.' }
  }
  return { key }
}
