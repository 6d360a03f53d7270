/** Runs a test file in a process of its own, or several in one. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Counts, NONE, type Told } from './file-reporter.ts'

export type FileResult = Readonly<{
  file: string
  /** From the start of the process to its end; of one file of several, its tests alone. */
  ms: number
  counts: Counts
  /** What is wrong, in words for whoever mends it; also where the process ended as no test said. */
  failures: readonly string[]
  skipped: readonly string[]
  notes: readonly string[]
  /** What the process wrote to its standard output and error. */
  output: string
}>

export type RunOptions = Readonly<{
  /** For node: `--test-name-pattern=…`. */
  options: readonly string[]
  /** A process that takes longer is ended with all that it has started, and has failed. */
  limitMs: number
  signal: AbortSignal
}>

const root = fileURLToPath(new URL('../..', import.meta.url))
const reporter = new URL('file-reporter.ts', import.meta.url)
const batch = fileURLToPath(new URL('run-batch.ts', import.meta.url))

const env: NodeJS.ProcessEnv = {
  // Compiled code is kept from one file to the next: most of a short one's time goes into the same modules.
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/crosswalk'),
  ...process.env,
}
// Node's own runner sets it for what it starts, which then reports to it alone.
delete env.NODE_TEST_CONTEXT

/** What node warns of is mostly something that is left open. */
const WARNING = /^\(node:\d+\) ((?!ExperimentalWarning)\w*Warning: .*)$/gm

/** Runs the files in one process. Out: a result for each of them, in their order. Never rejects. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<readonly FileResult[]> {
  const [file = ''] = files
  if (files.length < 2) return [(await runProcess([file], file, options)).result]
  const { told, result } = await runProcess([batch, ...files], 'the process', options)
  const begun = told.findLast((one) => one.kind === 'begun')?.test ?? file
  const isOf = (file: string) => (text: string) => text === file || text.startsWith(`${file} `)
  // What no test says of itself is said of the file in which it happened.
  const others = result.failures.filter((text) => !files.some((file) => isOf(file)(text)))
  return files.map((file): FileResult => {
    const suite = told.find((one) => one.kind === 'suite' && one.name === file)
    const isLast = isOf(file)(begun)
    return {
      file,
      ms: suite?.kind === 'suite' ? suite.ms : 0,
      // The file itself is no suite that anybody wrote.
      counts: suite?.kind === 'suite' ? { ...suite.counts, suites: suite.counts.suites - 1 } : NONE,
      failures: [
        ...result.failures.filter(isOf(file)),
        ...(isLast ? others : []),
        ...(suite === undefined ? ['It did not run to its end.'] : []),
      ],
      skipped: result.skipped.filter(isOf(file)),
      notes: told.flatMap((one) => (one.kind === 'note' && isOf(file)(one.test) ? [one.text] : [])),
      output: result.output,
    }
  })
}

/** The same for one file. */
export const runFile = async (file: string, options: RunOptions): Promise<FileResult> =>
  (await runFiles([file], options))[0] as FileResult

type Process = Readonly<{ told: readonly Told[]; result: FileResult }>

async function runProcess(
  program: readonly string[],
  file: string,
  { options, limitMs, signal }: RunOptions,
): Promise<Process> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-test-file-'))
  const report = join(folder, 'report')
  const startedAt = performance.now()
  const reporting = `--test-reporter=${reporter}?report=${encodeURIComponent(report)}`
  // A group of its own, so that what it has started ends with it.
  const child = spawn(process.execPath, [reporting, ...options, ...program], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const endAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended by itself meanwhile.
    }
  }
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    endAll()
  }, limitMs)
  signal.addEventListener('abort', endAll, { once: true })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { code, how } = await new Promise<Readonly<{ code: number | null; how: string }>>((resolve) => {
    child.on('error', (error) => resolve({ code: null, how: `cannot be started: ${error.message}` }))
    child.on('close', (code, by) => resolve({ code, how: by === null ? `exit code ${code}` : `ended by ${by}` }))
  })
  clearTimeout(limit)
  signal.removeEventListener('abort', endAll)

  const told = readReport(report)
  rmSync(folder, { recursive: true, force: true })
  const output = Buffer.concat(chunks).toString('utf8')
  const warnings = Array.from(output.matchAll(WARNING), ([, text = '']) => text)
  const counts = told.find((one) => one.kind === 'counts')?.counts
  const describe = (kind: 'failure' | 'skipped') =>
    told.flatMap((one) => (one.kind === kind ? [`${one.test} (${one.where})\n${one.what}`] : []))
  const failures = describe('failure')
  const begun = told.findLast((one) => one.kind === 'begun')?.test ?? 'none'
  if (isLate) failures.push(`It did not end within ${limitMs} ms, and was ended. The test begun last: ${begun}`)
  else if (code !== 0 && failures.length === 0) failures.push(`Its process failed, and no test did: ${how}.`)
  else if (counts === undefined) failures.push('It told no end of its tests.')
  const result: FileResult = {
    file,
    ms: performance.now() - startedAt,
    counts: counts ?? NONE,
    failures,
    skipped: describe('skipped'),
    notes: [...warnings, ...told.flatMap((one) => (one.kind === 'note' ? [one.text] : []))],
    output,
  }
  return { told, result }
}

/** As far as it was written. */
function readReport(path: string): Told[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    return lines.map((line): Told => JSON.parse(line))
  } catch {
    return []
  }
}
