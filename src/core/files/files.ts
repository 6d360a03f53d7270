/** What is said of files that cannot be read or written, in the same words everywhere, and folders that are made safely. */
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not in a folder',
  EEXIST: 'it is there already',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
}

/** In: the name as shown to people, and the error of node:fs. Out: one sentence. */
export function readFault(name: string, thrown: unknown, kind: 'file' | 'folder' = 'file'): string {
  const code = errorCode(thrown)
  if (code === 'ENOENT' || (code === 'ENOTDIR' && kind === 'file')) return `There is no ${kind} ${name}.`
  if (code === 'ENOTDIR') return `${name} is not a folder.`
  return `${name} cannot be read: ${reasonFor(code)}.`
}

/** In: as for readFault. Out: one sentence. */
export function writeFault(name: string, thrown: unknown): string {
  const code = errorCode(thrown)
  const isFolder = thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'mkdir'
  const missing = isFolder ? 'no folder can be made there' : 'its folder does not exist'
  return `${name} cannot be written: ${code === 'ENOENT' ? missing : reasonFor(code)}.`
}

const reasonFor = (code: string): string => REASONS[code] ?? `the system says ${code}`

const errorCode = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'that it is unreadable'

/**
 * Makes a folder and those above it; one that is there already stays. Throws the errors of node:fs.
 * Not with `recursive`: Node.js then loops for ever if the system denies that the parent exists, as in /proc.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (thrown) {
    // Another process may have made it.
    if (!existsSync(folder)) throw thrown
  }
}
