/** The result codes of SQLite as reasons why the store is unavailable. */
import { compileStoreFault } from '../sql/database.ts'

/**
 * Primary result codes (https://www.sqlite.org/rescode.html) of faults of the file, the disk or another process. The
 * other codes report a wrong query or value, which a retry does not fix.
 */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  3: 'access to its file is not permitted',
  5: 'another process holds its lock',
  6: 'another connection holds its lock',
  7: 'there is not enough memory',
  8: 'its file cannot be written; check the permissions of the file and its folder',
  9: 'the operation was interrupted',
  10: 'reading or writing its file failed; check the disk',
  11: 'its file is damaged; restore it from a backup',
  13: 'the disk is full; free some space',
  14: 'its file cannot be opened',
  15: 'its locks cannot be taken; check that the file is on a local disk',
  26: 'its file is no SQLite database',
}

const BUSY = 5
const IO_ERROR = 10

/** The primary result code of an error that node:sqlite threw; undefined for any other error. */
function resultCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return undefined
  return thrown.errcode & 0xff
}

export const isBusy = (thrown: unknown): boolean => resultCode(thrown) === BUSY
export const isIoError = (thrown: unknown): boolean => resultCode(thrown) === IO_ERROR

/** The fault of the file, disk or lock, as part of a sentence; undefined for any other error. */
export function unavailableReason(thrown: unknown): string | undefined {
  const code = resultCode(thrown)
  return code === undefined ? undefined : UNAVAILABLE[code]
}

/** Maps what node:sqlite throws to what the ports promise. */
export const storeFault = compileStoreFault(unavailableReason)
