/**
 * The class path of a Java program for tests, fetched by Maven once and remembered: asking Maven again costs seconds, and a
 * network that may be away.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** What tests install once and use in every run. */
export const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/crosswalk', import.meta.url))

/** Undefined where this machine has Java 17 or newer and Maven; else what it lacks, in one sentence. */
export async function whyNoJava(): Promise<string | undefined> {
  try {
    const { stderr, stdout } = await run('java', ['-version'])
    const version = Number(/version "(\d+)/.exec(stderr + stdout)?.[1])
    if (!(version >= 17)) return `it needs Java 17 or newer, and this machine has ${version || 'another'}`
  } catch {
    return 'this machine has no Java'
  }
  try {
    await run('mvn', ['-v'])
    return undefined
  } catch {
    return 'this machine has no Maven'
  }
}

/**
 * In: a pom file, `<name>-pom.xml`. Out: the jars of its dependencies, as Java's -cp takes them. Rejects where Maven cannot
 * fetch them.
 */
export async function classPathOf(pomUrl: URL): Promise<string> {
  const pom = fileURLToPath(pomUrl)
  const version = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12)
  const file = join(CACHE, `${basename(pom, '-pom.xml')}-${version}.classpath`)
  const known = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (known?.split(':').every((jar) => existsSync(jar))) return known
  mkdirSync(CACHE, { recursive: true })
  // Several processes may do this at once: each writes its own file, and the last rename wins.
  const own = `${file}.${process.pid}`
  await run('mvn', ['-q', '-B', '-f', pom, 'dependency:build-classpath', `-Dmdep.outputFile=${own}`], {
    timeout: 300_000,
  })
  renameSync(own, file)
  return readFileSync(file, 'utf8')
}
