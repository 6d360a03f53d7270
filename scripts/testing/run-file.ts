/** Runs one or several test files in a process. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Counts, NONE, type ReportEntry } from './file-reporter.ts'

export type FileResult = Readonly<{
  file: string
  /** Duration of the process; for one of several files, of its tests alone. */
  ms: number
  counts: Counts
  /** Failed tests with their texts, and failures of the process itself. */
  failures: readonly string[]
  skipped: readonly string[]
  notes: readonly string[]
  /** Standard output and standard error of the process. */
  output: string
}>

export type RunOptions = Readonly<{
  /** For node: `--test-name-pattern=…`. */
  options: readonly string[]
  /** A process that takes longer is killed with its child processes, and has failed. */
  limitMs: number
  signal: AbortSignal
}>

const root = fileURLToPath(new URL('../..', import.meta.url))
const reporter = new URL('file-reporter.ts', import.meta.url)
const batch = fileURLToPath(new URL('run-batch.ts', import.meta.url))

/** The environment of this moment: the form of the run and the addresses of services are set after the start. */
function environment(): NodeJS.ProcessEnv {
  // Node's runner sets this variable for its children, which then report to it alone.
  const { NODE_TEST_CONTEXT: _context, ...own } = process.env
  // Files share compiled code: a short file spends most of its time on compiling the same modules.
  return { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/crosswalk'), ...own }
}

/** Warnings of node are mostly about handles that are left open. */
const WARNING = /^\(node:\d+\) ((?!ExperimentalWarning)\w*Warning: .*)$/gm

/** Runs the files in one process. Out: a result for each file, in the same order. Never rejects. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<readonly FileResult[]> {
  const [file = ''] = files
  if (files.length < 2) return [(await runProcess([batch, file], file, options)).result]
  const { entries, result } = await runProcess([batch, ...files], 'the process', options)
  const last = entries.findLast((one) => one.kind === 'started')?.test ?? file
  const isOf = (file: string) => (text: string) => text === file || text.startsWith(`${file} `)
  // A failure without a test belongs to the file whose test started last.
  const others = result.failures.filter((text) => !files.some((file) => isOf(file)(text)))
  return files.map((file): FileResult => {
    const suite = entries.find((one) => one.kind === 'suite' && one.name === file)
    const isLast = isOf(file)(last)
    return {
      file,
      ms: suite?.kind === 'suite' ? suite.ms : 0,
      // The file itself counts as a suite of the batch.
      counts: suite?.kind === 'suite' ? { ...suite.counts, suites: suite.counts.suites - 1 } : NONE,
      failures: [
        ...result.failures.filter(isOf(file)),
        ...(isLast ? others : []),
        ...(suite === undefined ? ['It did not run to its end.'] : []),
      ],
      skipped: result.skipped.filter(isOf(file)),
      notes: entries.flatMap((one) => (one.kind === 'note' && isOf(file)(one.test) ? [one.text] : [])),
      output: result.output,
    }
  })
}

/** The same for one file. */
export const runFile = async (file: string, options: RunOptions): Promise<FileResult> =>
  (await runFiles([file], options))[0] as FileResult

type Process = Readonly<{ entries: readonly ReportEntry[]; result: FileResult }>

async function runProcess(
  program: readonly string[],
  file: string,
  { options, limitMs, signal }: RunOptions,
): Promise<Process> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-test-file-'))
  const report = join(folder, 'report')
  const startedAt = performance.now()
  const reporting = `--test-reporter=${reporter}?report=${encodeURIComponent(report)}`
  // A process group of its own, so that its child processes are killed with it.
  const child = spawn(process.execPath, [reporting, ...options, ...program], {
    cwd: root,
    env: environment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has exited meanwhile.
    }
  }
  let isTimedOut = false
  const limit = setTimeout(() => {
    isTimedOut = true
    killAll()
  }, limitMs)
  signal.addEventListener('abort', killAll, { once: true })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { code, how } = await new Promise<Readonly<{ code: number | null; how: string }>>((resolve) => {
    child.on('error', (error) => resolve({ code: null, how: `cannot be started: ${error.message}` }))
    child.on('close', (code, by) => resolve({ code, how: by === null ? `exit code ${code}` : `ended by ${by}` }))
  })
  clearTimeout(limit)
  signal.removeEventListener('abort', killAll)

  const entries = readReport(report)
  rmSync(folder, { recursive: true, force: true })
  const output = Buffer.concat(chunks).toString('utf8')
  const warnings = Array.from(output.matchAll(WARNING), ([, text = '']) => text)
  const counts = entries.find((one) => one.kind === 'counts')?.counts
  const describe = (kind: 'failure' | 'skipped') =>
    entries.flatMap((one) => (one.kind === kind ? [`${one.test} (${one.where})\n${one.what}`] : []))
  const failures = describe('failure')
  const last = entries.findLast((one) => one.kind === 'started')?.test ?? 'none'
  if (isTimedOut)
    failures.push(`It did not end within ${limitMs} ms, and was killed. The test that started last: ${last}`)
  else if (code !== 0 && failures.length === 0) failures.push(`Its process failed, and no test did: ${how}.`)
  else if (counts === undefined) failures.push('It did not report the end of its tests.')
  const result: FileResult = {
    file,
    ms: performance.now() - startedAt,
    counts: counts ?? NONE,
    failures,
    skipped: describe('skipped'),
    notes: [...warnings, ...entries.flatMap((one) => (one.kind === 'note' ? [one.text] : []))],
    output,
  }
  return { entries, result }
}

/** The entries that were written completely. */
function readReport(path: string): ReportEntry[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    return lines.map((line): ReportEntry => JSON.parse(line))
  } catch {
    return []
  }
}
