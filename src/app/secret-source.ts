/**
 * The values of secrets, from the environment and from files, as far as the operator allows. Documents name them: a name that
 * is not allowed is not looked up, so that no author learns whether it exists.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { Failure } from '../core/failure.ts'
import { parseReferences, type Reference, type SecretSource } from '../core/secrets/secrets.ts'

type SecretsAllowed = Readonly<{
  /** Names of variables; `*` matches any characters. */
  names: readonly string[]
  /** Absolute paths of folders: every file in them and below. */
  folders: readonly string[]
}>

type Environment = Readonly<Record<string, string | undefined>>

/** A key has some hundred bytes, a bundle of certificates some thousand. */
const MAX_BYTES = 64 * 1024

/** `stamp` changes with the content of the file, or with another file under its name. */
type CachedFile = Readonly<{ value: string; stamp: string }>

export function createSecretSource(allowed: SecretsAllowed, env: Environment = process.env): SecretSource {
  const names = allowed.names.map((name) => new RegExp(`^${name.replace(/[^\w*]/g, '').replaceAll('*', '\\w*')}$`))
  const cached = new Map<string, CachedFile>()

  const fromEnvironment = ({ text, name }: Reference): string => {
    if (!names.some((pattern) => pattern.test(name))) throw notAllowed(text)
    return env[name] ?? ''
  }
  const fromFile = ({ text, name: path }: Reference): string => {
    const isInside = allowed.folders.some((folder) => isBelow(path, folder)) && !/\/\.\.?(?:\/|$)/.test(path)
    if (!isInside) throw notAllowed(text)
    try {
      const stamp = readStamp(path)
      const known = cached.get(path)
      if (known?.stamp === stamp) return known.value
      const value = readWithin(path, allowed.folders, text)
      cached.set(path, { value, stamp })
      return value
    } catch (thrown) {
      cached.delete(path)
      if (thrown instanceof Failure) throw thrown
      const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
      throw unavailable(text, code === 'ENOENT' ? 'does not exist' : 'cannot be read')
    }
  }
  const resolveSecret = (reference: Reference): string => {
    const value = reference.source === 'env' ? fromEnvironment(reference) : fromFile(reference)
    if (value === '') throw unavailable(reference.text, reference.source === 'env' ? 'is not set' : 'is empty')
    return value
  }

  return {
    resolve: (text) =>
      parseReferences(text)
        ?.map((part) => (typeof part === 'string' ? part : resolveSecret(part)))
        .join('') ?? text,
  }
}

function readStamp(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

/** Fails with SECRET_UNAVAILABLE if a link leads out of the folders, or to something other than a file. */
function readWithin(path: string, folders: readonly string[], reference: string): string {
  const real = realpathSync(path)
  if (!folders.some((folder) => isBelow(real, tryRealpath(folder)))) throw notAllowed(reference)
  // The path may have become a link since, which is not followed, or a pipe, which is not waited for.
  const file = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = fstatSync(file)
    if (!fstatSync(file).isFile()) throw unavailable(reference, 'is not a file')
    if (size > MAX_BYTES) throw unavailable(reference, `has more than ${MAX_BYTES} bytes`)
    const bytes = readFileSync(file)
    // `echo` and editors end a file with a line break.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/(?:\r?\n)+$/, '')
  } finally {
    closeSync(file)
  }
}

function tryRealpath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)

const unavailable = (reference: string, what: string): Failure =>
  new Failure('SECRET_UNAVAILABLE', `The secret "${reference}" ${what}.`)

const notAllowed = (reference: string): Failure =>
  unavailable(reference, 'may not be used: SECRETS_ALLOW does not name it')
