/**
 * Every check of a change: format and lint, types, generated files, the console, tests, and with `--all` all that `npm test` leaves out. Changes nothing;
 * stops at the first step that fails and names it.
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

type Step = Readonly<{
  name: string
  command: readonly [string, ...string[]]
  /** The fault of an output with exit code 0; undefined if it is right. */
  faultIn?: (output: string) => string | undefined
}>

const root = fileURLToPath(new URL('..', import.meta.url))

const generators = readdirSync(`${root}/scripts`).filter((name) => /^(?:docs|types)-.*\.ts$/.test(name))

const steps: readonly Step[] = [
  {
    name: 'format and lint',
    command: [process.execPath, 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  },
  { name: 'types', command: [process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.'] },
  {
    name: 'types of the console',
    command: [process.execPath, 'node_modules/typescript/bin/tsc', '-p', 'console'],
  },
  ...generators.map(
    (name): Step => ({
      name: `generated files (scripts/${name})`,
      command: [process.execPath, `scripts/${name}`, '--check'],
    }),
  ),
  { name: 'the sizes of the console', command: [process.execPath, 'scripts/console.ts', '--check'] },
  { name: 'tests', command: ['npm', 'test'], faultIn: faultInTests },
  // The rest takes a quarter of an hour more, so only CI and authors of such changes run it.
  ...(process.argv.includes('--all')
    ? [{ name: 'the rest of the tests', command: ['npm', 'run', 'test:rest'], faultIn: faultInTests } as const]
    : []),
]

/** A skipped test and a run without tests prove nothing, so both are failures here. */
function faultInTests(output: string): string | undefined {
  const count = (what: string): number =>
    Number(output.match(new RegExp(`^\\S+ ${what} (\\d+)$`, 'm'))?.[1] ?? Number.NaN)
  if (!(count('tests') > 0)) return 'no summary of a test run was printed, or it ran no tests'
  for (const what of ['fail', 'cancelled', 'skipped', 'todo']) {
    if (count(what) !== 0) return `the summary says ${what} ${count(what)}, which must be 0`
  }
  return undefined
}

/** Runs a step and passes its output on. Out: the fault, or undefined. */
function run({ command: [program, ...args], faultIn }: Step): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      process.stdout.write(chunk)
    })
    child.on('error', (error) => resolve(`${program} cannot be started: ${error.message}`))
    child.on('close', (code, signal) => {
      if (code !== 0) resolve(signal === null ? `exit code ${code}` : `ended by ${signal}`)
      else resolve(faultIn?.(stripVTControlCharacters(Buffer.concat(chunks).toString('utf8'))))
    })
  })
}

for (const step of steps) {
  console.log(`\n== ${step.name}`)
  const fault = await run(step)
  if (fault !== undefined) {
    console.error(`\ncheck: FAILED at "${step.name}": ${fault}.`)
    process.exit(1)
  }
}
console.log('\ncheck: all steps passed.')
