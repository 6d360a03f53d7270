/**
 * Which files each run of the tests has, which of them share a process, and how many processes run at once: all of it follows
 * from the folder of a file. CONTRIBUTING.md says which test belongs where.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `short`: `npm test`. `long`: `npm run test:rest`, all that the short form leaves out. */
export type Form = 'short' | 'long'

/** One process. */
export type Job = Readonly<{ files: readonly string[]; folder: string }>

/** Processes at once. Many of them wait more than they compute: four keep two cores busy. */
const AT_ONCE = 4
/** Of these at most so many: browsers keep a core busy, and the tests of the broker share one broker. */
const AT_MOST: Readonly<Record<string, number>> = { 'system/broker': 2, 'system/console': 2 }
/** With the longest files, so these start first. */
const FIRST: readonly string[] = ['system/hostile', 'system/crash', 'system/broker', 'system/smoke']
/** What judges times or needs the whole machine: each file runs alone, after all others. */
const ALONE = 'system/load'
const SMOKE = 'system/smoke'

const folderOf = (file: string): string => /^test\/(\w+\/[^/]+)\//.exec(file)?.[1] ?? 'samples'

const isShort = (file: string): boolean => !file.startsWith('test/system/') || folderOf(file) === SMOKE

export const filesOf = (form: Form, files: readonly string[]): string[] =>
  files.filter((file) => (form === 'short' ? isShort(file) : !isShort(file) || hasLongForm(file)))

const FORM = 'test/support/form.ts'
const IMPORT = /^(?:import|export|\} from) .*'(\.[^']+\.ts)'$/gm

/** Whether its long form does more: the cases over every database, more random inputs, more rounds. Its helpers may ask for the form too. */
function hasLongForm(file: string, seen = new Set<string>()): boolean {
  if (file === FORM) return true
  if (seen.has(file) || !file.startsWith('test/')) return false
  seen.add(file)
  const imported = Array.from(readFileSync(file, 'utf8').matchAll(IMPORT), ([, path = '']) => join(dirname(file), path))
  return imported.some((path) => hasLongForm(path, seen))
}

/** A folder of unit or service tests is one process, since its files load the same modules; every other file is one of its own. */
export function jobsOf(form: Form, files: readonly string[]): Job[] {
  const isShared = (file: string): boolean => form === 'short' && !file.startsWith('test/system/')
  const shared = Map.groupBy(files.filter(isShared), folderOf)
  const single = files.filter((file) => !isShared(file))
  return [
    ...Array.from(shared, ([folder, of]) => ({ folder, files: of })),
    ...single.map((file) => ({ folder: folderOf(file), files: [file] })),
  ]
}

const bytesOf = ({ files }: Job): number => files.reduce((sum, file) => sum + statSync(file).size, 0)
const rankOf = ({ folder }: Job): number => (FIRST.indexOf(folder) + FIRST.length + 1) % (FIRST.length + 1)

/** Runs every job once, the largest of a rank first, so that all lanes end at about the same time. `start` must not reject. */
export async function runJobs(jobs: readonly Job[], start: (job: Job) => Promise<void>): Promise<void> {
  const isAlone = ({ folder }: Job): boolean => folder === ALONE
  const waiting = jobs
    .filter((job) => !isAlone(job))
    .sort((one, other) => rankOf(one) - rankOf(other) || bytesOf(other) - bytesOf(one))
  const running = new Map<string, number>()
  const countOf = (folder: string): number => running.get(folder) ?? 0
  const lane = async (): Promise<void> => {
    for (;;) {
      const next = waiting.findIndex(({ folder }) => countOf(folder) < (AT_MOST[folder] ?? AT_ONCE))
      const [job] = next === -1 ? [] : waiting.splice(next, 1)
      if (job === undefined) return
      running.set(job.folder, countOf(job.folder) + 1)
      await start(job)
      running.set(job.folder, countOf(job.folder) - 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  for (const job of jobs.filter(isAlone)) await start(job)
}
